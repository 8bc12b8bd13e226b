import { applyDecorators, Controller, createParamDecorator, type ExecutionContext, SetMetadata } from '@nestjs/common';
import { ApiHeader } from '@nestjs/swagger';
import { EXAMPLE_IDEMPOTENCY_KEY } from '../../common/example-ids.js';
import { ApiErrors } from './api-description.js';
import { ADMIN_PREFIX } from './api-version.js';
import type { HeraldRequest, Operator } from './herald-request.js';

/** A controller of the admin API, below /api/admin/v1. */
export function AdminController(path: string): ClassDecorator {
  return applyDecorators(Controller(`${ADMIN_PREFIX.slice(1)}/${path}`));
}

/** Passes its caller to a route that has `@RequireOperatorScope`. */
export const CurrentOperator = createParamDecorator((_data: unknown, context: ExecutionContext): Operator => {
  const { operator } = context.switchToHttp().getRequest<HeraldRequest>();
  if (operator === undefined) throw new Error('a route without @RequireOperatorScope has no operator');
  return operator;
});

const REPEATABLE = 'herald:repeatable';

/**
 * A POST of the admin API: with an Idempotency-Key, a repeat returns the same object and creates nothing.
 *
 * @param outside the route calls WhatsApp, so no transaction is open meanwhile, and running it twice must be harmless
 */
export function Repeatable({ outside = false } = {}): MethodDecorator {
  return applyDecorators(
    SetMetadata(REPEATABLE, { outside }),
    ApiHeader({
      name: 'Idempotency-Key',
      required: false,
      description:
        '8 to 128 printable ASCII characters, such as a UUID or `make 4711`; the same for a repeat of the request within 24 hours.',
      schema: { type: 'string', minLength: 8, maxLength: 128 },
      example: EXAMPLE_IDEMPOTENCY_KEY,
    }),
    ApiErrors('IDEMPOTENCY_KEY_INVALID', 'IDEMPOTENCY_KEY_REUSED'),
  );
}

/** Null where the route is not repeatable. */
export function repeatableOf(handler: object): { outside: boolean } | null {
  return (Reflect.getMetadata(REPEATABLE, handler) as { outside: boolean } | undefined) ?? null;
}

/**
 * The workspaces whose rows a list shows; null: all. A workspace that the key may not see shows none, like an unknown
 * one.
 */
export function workspacesSeen({ workspaceIds }: Operator, asked: string | undefined): readonly string[] | null {
  if (asked === undefined) return workspaceIds;
  const id = asked.toLowerCase();
  return workspaceIds === null || workspaceIds.includes(id) ? [id] : [];
}
