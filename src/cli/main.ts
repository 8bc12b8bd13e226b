#!/usr/bin/env node
import { readEnvFile } from '../bootstrap/env-file.js';
import { buildProgram } from './program.js';

readEnvFile();
await buildProgram().parseAsync();
