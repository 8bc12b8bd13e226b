import type { NestExpressApplication } from '@nestjs/platform-express';
import type { NextFunction, Request, Response } from 'express';

const OPERATIONS = /^\/(health\/(live|ready)|metrics)$/;

/** For a process without the role api: it answers on its port for those who watch it, and for nobody else. */
export function serveOperationsOnly(app: NestExpressApplication): void {
  app.use((request: Request, response: Response, next: NextFunction) => {
    if (OPERATIONS.test(request.path)) next();
    else response.status(404).type('text/plain').send('This process has not the role api.\n');
  });
}
