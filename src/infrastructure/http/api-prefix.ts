import type { INestApplication } from '@nestjs/common';
import { API_PREFIX, OUTSIDE_THE_API } from './api-version.js';

/** Puts every controller below /api/v1, but those that are no part of the API. Call it before `init`. */
export function setApiPrefix(app: INestApplication): void {
  app.setGlobalPrefix(API_PREFIX.slice(1), { exclude: OUTSIDE_THE_API });
}
