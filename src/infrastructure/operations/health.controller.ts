import { Controller, Get, Res } from '@nestjs/common';
import type { Response } from 'express';
import { Public } from '../http/route-policy.js';
import { Readiness, type ReadinessReport } from './readiness.js';

/** For supervisors and load balancers. */
@Controller('health')
@Public()
export class HealthController {
  constructor(private readonly readiness: Readiness) {}

  /** The process runs. Its dependencies are not checked, so that an outage of the database restarts no process. */
  @Get('live')
  live(): { status: 'live' } {
    return { status: 'live' };
  }

  /** 200 where this process may be sent traffic, else 503; part by part. */
  @Get('ready')
  async ready(@Res({ passthrough: true }) response: Response): Promise<ReadinessReport> {
    const report = await this.readiness.report();
    response.status(report.status === 'ready' ? 200 : 503);
    return report;
  }
}
