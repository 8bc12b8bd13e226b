import type { Page } from 'playwright-core';
import { describeConsole, PATIENCE_MS } from '../console/rig.js';
import { LocalServer } from '../../support/local-server.js';
