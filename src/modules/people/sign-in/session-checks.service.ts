import { Injectable, type OnModuleInit } from '@nestjs/common';
import { Config } from '../../../infrastructure/config/config.js';
import { inBatches, Sweeps } from '../../../infrastructure/queue/sweeps.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { CHECK_DUE } from './grants.repository.js';
import { GrantsService } from './grants.service.js';
import { Issuers } from './issuers.service.js';
import { SignInService } from './sign-in.service.js';

const EVERY_MS = 10_000;
/** Asked at once: an issuer that is slow holds up so many, for a few seconds each. */
const BATCH = 10;
/** Longer than an issuer may take for all that it is asked. Where it is away, it is asked again after so long. */
const CLAIM_MINUTES = 2;

/**
 * Reads the groups of people who are signed in again, where their issuer hands out refresh tokens. An issuer that does not answer ends no
 * session: it is asked again until it does, and a session ends by its age in any case.
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

/** The operator took the issuer away, or the key that encrypted the grant. */
const OVER = { state: 'over' } as const;
