import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../infrastructure/config/config.js';
import { inBatches, Sweeps } from '../../../infrastructure/queue/sweeps.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { CHECK_DUE } from './grants.repository.js';
import { GrantsService } from './grants.service.js';
import { Issuers } from './issuers.service.js';
import { SignInService } from './sign-in.service.js';

const EVERY_MS = 10_000;
/** Checks run at the same time; a slow issuer delays only these, for a few seconds each. */
const BATCH = 10;
/** Longer than all requests to an issuer take. If it is away, it is queried again after this. */
const CLAIM_MINUTES = 2;

/**
 * Reads the groups of signed-in people again, if their issuer gives out refresh tokens. An issuer that does not answer
 * ends no session: it is queried until it does, and a session ends by its age anyway.
 */
@Injectable()
export class SessionChecks implements OnModuleInit {
  constructor(
    private readonly grants: GrantsService,
    private readonly issuers: Issuers,
    private readonly signIns: SignInService,
    private readonly sessions: SessionsService,
    private readonly sweeps: Sweeps,
    private readonly config: Config,
  ) {}

  onModuleInit(): void {
    this.sweeps.add({
      name: 'person groups',
      everyMs: EVERY_MS,
      hasWork: `exists (select from person_grant where ${CHECK_DUE})`,
      run: (signal) => inBatches(signal, BATCH, (limit) => this.check(limit)),
    });
  }

  private async check(limit: number): Promise<number> {
    const due = await this.grants.claim(limit, CLAIM_MINUTES);
    await Promise.all(due.map((session) => this.ask(session)));
    return due.length;
  }

  private async ask({ sessionId, personId, subject, issuer, grant }: Due): Promise<void> {
    const settings = this.config.people.issuers.find((each) => each.name === grant?.issuer && each.issuer === issuer);
    const asked =
      settings === undefined || grant === null ? OVER : await this.issuers.askAgain(settings, grant, subject);
    if (asked.state === 'over') await this.sessions.endByIssuer(personId, sessionId);
    if (asked.state !== 'told' || settings === undefined) return;
    await this.grants.keep(sessionId, asked.grant);
    await this.signIns.again(settings, personId, asked.claims);
  }
}

type Due = Awaited<ReturnType<GrantsService['claim']>>[number];

/** The operator removed the issuer, or the key that encrypted the grant. */
const OVER = { state: 'over' } as const;
