import { type ExecutionContext, Injectable, type Type } from '@nestjs/common';
import type { Response } from 'express';
import { setApiVersion } from '../http/api-version.js';
import { BodyGuard } from '../http/body.guard.js';
import { ErrorFilter } from '../http/error.filter.js';
import { RequestContextMiddleware } from '../http/request-context.middleware.js';
import { AccessGuard } from './access.guard.js';
import type { AuthenticatedRequest } from './caller.js';

export interface DirectRoute {
  controller: Type;
  /** The method that Nest calls for the same route: its decorators say who may call it and which body it takes. */
  method: string;
  /** Method and whole path, such as `POST /api/v1/messages`. */
  address: string;
  status: number;
  answer(req: AuthenticatedRequest, res: Response): Promise<unknown>;
}

/**
 * Runs a busy route without Nest's pipeline: the same guards in the same order, then the controller's method, then the
 * same filter. The pipeline takes a promise for each step, and an interceptor several. Addresses that the table of exact
 * routes does not serve (a query, another spelling) go through Nest, to the same method.
 */
@Injectable()
export class DirectRoutes {
  constructor(
    private readonly access: AccessGuard,
    private readonly body: BodyGuard,
    private readonly errors: ErrorFilter,
    private readonly requestContext: RequestContextMiddleware,
  ) {}

  /** Call it in the constructor of the controller: the routes are looked up once, when the application is initialized. */
  add(route: DirectRoute): void {
    const handler = (route.controller.prototype as Record<string, unknown>)[route.method];
    const contextOf = (req: AuthenticatedRequest, res: Response): ExecutionContext => {
      const http = { getRequest: () => req, getResponse: () => res };
      const context = { getClass: () => route.controller, getHandler: () => handler, switchToHttp: () => http };
      return context as unknown as ExecutionContext;
    };
    this.requestContext.direct.set(route.address, (req, res) => {
      const authenticated = req as AuthenticatedRequest;
      return this.run(route, contextOf(authenticated, res), authenticated, res);
    });
  }

  private async run(
    route: DirectRoute,
    context: ExecutionContext,
    req: AuthenticatedRequest,
    res: Response,
  ): Promise<void> {
    try {
      setApiVersion(res);
      const admitted = this.access.canActivate(context);
      if (admitted !== true) await admitted;
      const read = this.body.canActivate(context);
      if (read !== true) await read;
      const answer = await route.answer(req, res);
      res.statusCode = route.status;
      res.json(answer);
    } catch (error) {
      this.errors.answer(error, req, res);
    }
  }
}
