import { Injectable, type NestMiddleware } from '@nestjs/common';
import type { NextFunction, Response } from 'express';
import { commonErrors, invalidField } from '../../common/common.errors.js';
import { Config } from '../config/config.js';
import { aliasHeaders, isAdmin, readAddress, SUPPORTED_VERSIONS } from './api-version.js';
import type { HeraldRequest } from './herald-request.js';

/** Refuses unknown versions and ambiguous hosts, and routes addresses without a version to the API. */
@Injectable()
export class AddressMiddleware implements NestMiddleware<HeraldRequest, Response> {
  private readonly markAlias: ReturnType<typeof aliasHeaders>;

  constructor(private readonly config: Config) {
    this.markAlias = aliasHeaders(config.process.aliasSunset);
  }

  /**
   * @throws API_VERSION_NOT_SUPPORTED (404), ROUTE_NOT_FOUND (404) below /api/admin without the admin API,
   * INVALID_REQUEST (400) where the header Host is missing or repeated.
   */
  use(req: HeraldRequest, res: Response, next: NextFunction): void {
    const address = readAddress(req.url);
    if (!this.config.process.adminApi && isAdmin(address.url)) throw commonErrors.ROUTE_NOT_FOUND();
    if (address.kind === 'unsupported') {
      throw commonErrors.API_VERSION_NOT_SUPPORTED({ supported: SUPPORTED_VERSIONS });
    }
    if (req.headers.host === undefined && req.httpVersion === '1.1') {
      throw invalidField('Host', 'required', 'The header Host is missing.');
    }
    if (hasTwoHosts(req)) throw invalidField('Host', 'single', 'The header Host is there more than once.');
    if (address.kind === 'alias') this.markAlias(res, address.url);
    if (address.url !== req.url) req.url = address.url;
    next();
  }
}

/** Node keeps the first one, while a proxy may have used the last (RFC 9112, 3.2). */
function hasTwoHosts({ rawHeaders }: HeraldRequest): boolean {
  let found = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    if (name.length === 4 && name.toLowerCase() === 'host') found += 1;
  }
  return found > 1;
}
