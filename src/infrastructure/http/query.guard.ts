import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { MAX_DETAILS } from '../../common/app-error.js';
import { commonErrors, invalidField } from '../../common/common.errors.js';
import { unknownField } from '../../common/shape.js';
import { routePolicyOf } from './route-policy.js';
import type { HeraldRequest } from './herald-request.js';
import { takes } from './routes.js';

const NONE: ReadonlySet<string> = new Set();

/**
 * Refuses queries that no pipe checks: parameters of a route that declares no query (a filter must not be ignored), and
 * queries that are not UTF-8, which the parser would turn into U+FFFD. Public routes, called by platforms, probes and
 * links, check their own.
 */
@Injectable()
export class QueryGuard implements CanActivate {
  /** @throws INVALID_REQUEST (400). */
  canActivate(context: ExecutionContext): true {
    const req = context.switchToHttp().getRequest<HeraldRequest>();
    const { url } = req;
    const at = url.indexOf('?');
    if (at < 0 || routePolicyOf(context.getClass(), context.getHandler()) === 'public') return true;
    if (!isDecodable(url.slice(at))) {
      throw invalidField('', 'query', 'The query is not correctly percent-encoded; encode its values as UTF-8.');
    }
    if (takes('query', context.getClass(), context.getHandler().name)) return true;
    const names = Object.keys(req.query).slice(0, MAX_DETAILS);
    if (names.length === 0) return true;
    throw commonErrors.INVALID_REQUEST({ details: names.map((name) => unknownField(name, NONE)) });
  }
}

/** A percent sign that encodes nothing is literal text. */
function isDecodable(query: string): boolean {
  if (!query.includes('%')) return true;
  try {
    decodeURIComponent(query.replaceAll(/%(?![\da-f]{2})/gi, '%25'));
    return true;
  } catch {
    return false;
  }
}
