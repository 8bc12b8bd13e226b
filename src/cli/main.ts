#!/usr/bin/env node
import { readEnvFile } from '../infrastructure/config/load-config.js';
import { buildProgram } from './program.js';

readEnvFile();
await buildProgram().parseAsync();
