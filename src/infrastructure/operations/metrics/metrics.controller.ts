import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Request, Response } from 'express';
import { commonErrors } from '../../../common/common.errors.js';
import { isSameText } from '../../../common/same-text.js';
import { Public } from '../../http/route-policy.js';
import { Config } from '../../config/config.js';
import { isLocal } from '../../http/public-url.js';
import { Metrics } from './metrics.js';

/** For Prometheus. Totals of all workspaces: not public. */
@ApiExcludeController()
@Controller('metrics')
@Public()
export class MetricsController {
  constructor(
    private readonly metrics: Metrics,
    private readonly config: Config,
  ) {}

  @Get()
  async read(@Req() request: Request, @Res() response: Response): Promise<void> {
    if (!this.mayRead(request)) {
      throw commonErrors.ROUTE_NOT_FOUND(undefined, { internal: 'metrics were asked for without METRICS_TOKEN' });
    }
    response.setHeader('Content-Type', this.metrics.contentType);
    response.setHeader('Cache-Control', 'no-store');
    response.send(await this.metrics.render());
  }

  /**
   * Callers with the token; where none is set, this machine, but in production no caller: a proxy beside us is this
   * machine too.
   */
  private mayRead(request: Request): boolean {
    const { metricsToken } = this.config.security;
    if (metricsToken === null && this.config.process.production) return false;
    if (metricsToken !== null) return isSameText(request.headers.authorization ?? '', `Bearer ${metricsToken}`);
    return isLocal(request);
  }
}
