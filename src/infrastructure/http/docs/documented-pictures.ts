import { drawStates, type StatePicture } from './state-picture.js';

const documented = new Map<string, string>();

/**
 * Puts a picture of states beside the API description, and returns the Markdown that shows it. It is served as
 * `/docs/pictures/<name>.svg`; `npm run generate` writes it to `docs/pictures` as well.
 *
 * @throws Error when the name is taken.
 */
export function documentStates(name: string, picture: StatePicture): string {
  if (documented.has(name)) throw new Error(`two pictures are named ${name}`);
  documented.set(name, drawStates(picture));
  return `![${picture.title}](/docs/pictures/${name}.svg)`;
}

/** All of them by name, as SVG. */
export function documentedPictures(): ReadonlyMap<string, string> {
  return documented;
}
