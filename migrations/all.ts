import { Foundation1764000000000 } from './1764000000000-foundation.js';

/** The schema's history, oldest first. A test compares this list with the folder. */
export const migrations = [Foundation1764000000000];
