import { hash, randomBytes } from 'node:crypto';
import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { systemClock } from '../../../common/clock.js';
import { invalidField } from '../../../common/common.errors.js';
import { describeError } from '../../../common/describe-error.js';
import { ExpiringCache } from '../../../common/expiring-cache.js';
import { isUuid, newId } from '../../../common/ids.js';
import { Config } from '../../../infrastructure/config/config.js';
import { Database } from '../../../infrastructure/database/database.js';
import { GroupCommit } from '../../../infrastructure/database/group-commit.js';
import { PgNotifier } from '../../../infrastructure/database/pg-notifier.js';
import type { HeraldRequest } from '../../../infrastructure/http/herald-request.js';
import { PublicUrl } from '../../../infrastructure/http/public-url.js';
import { strongest } from '../../../infrastructure/http/roles.js';
import { inBatches, Sweeps } from '../../../infrastructure/queue/sweeps.js';
import { Audit } from '../../audit/audit.service.js';
import type { PersonSessions, SignedInPerson, WorkspaceOfPerson } from '../../keys/person-sessions.types.js';
import { WORKSPACE_CHANGED } from '../../workspaces/workspaces.service.js';
import { cookieOf, SESSION_COOKIE } from './cookies.js';
import { sessionErrors } from './sessions.errors.js';
import {
  type PersonSession,
  SessionsRepository,
  type StoredSession,
  type StoredWorkspace,
} from './sessions.repository.js';

export const WORKSPACE_HEADER = 'X-Herald-Workspace';
export const CONSOLE_HEADER = 'X-Herald-Console';

const SESSIONS_CHANGED = 'person_session';
const CACHE_MS = 2_000;
const MAX_CACHED = 20_000;
const NOTED_EVERY_MS = 60_000;
const SWEEP_EVERY_MS = 60_000;
const BATCH = 500;
/** Limit of workspaces shown to a person. */
const MOST_WORKSPACES = 200;
/** 256 bits, as base64url. */
const TOKEN = /^[\w-]{43}$/;

const BY_ISSUER = { by: 'issuer' };

interface KnownSession {
  person: SignedInPerson;
  /** By this process's monotonic clock. */
  endsAt: number;
}

/** Begins, finds and ends the sessions of people who signed in. */
@Injectable()
export class SessionsService implements PersonSessions, OnModuleInit {
  private readonly logger = new Logger(SessionsService.name);
  private readonly known = new ExpiringCache<string, KnownSession | null>({ ttlMs: CACHE_MS, maxEntries: MAX_CACHED });
  private readonly workspacesOf = new ExpiringCache<string, StoredWorkspace | null>({
    ttlMs: CACHE_MS,
    maxEntries: MAX_CACHED,
  });
  /** A flood of invented cookies costs one statement per batch. */
  private readonly reader: GroupCommit<string, StoredSession | null>;
  private readonly noted = new ExpiringCache<string, true>({ ttlMs: NOTED_EVERY_MS, maxEntries: MAX_CACHED });
  private readonly idleMinutes: number;
  private readonly isOn: boolean;

  constructor(
    private readonly sessions: SessionsRepository,
    private readonly database: Database,
    private readonly invalidation: PgNotifier,
    private readonly config: Config,
    private readonly publicUrl: PublicUrl,
    private readonly audit: Audit,
    private readonly sweeps: Sweeps,
  ) {
    this.idleMinutes = config.people.sessionIdleMinutes;
    this.isOn = config.people.issuers.length > 0;
    this.reader = new GroupCommit(database, {
      name: 'sessions',
      commit: (hashes) => sessions.readStored(hashes, this.idleMinutes),
      transactional: false,
      lockedForMs: null,
      maxWaiting: 5_000,
    });
    // Rare: sessions and members change when people come, go, or get another role.
    invalidation.on(SESSIONS_CHANGED, () => this.forget());
    invalidation.on(WORKSPACE_CHANGED, () => this.workspacesOf.clear());
  }

  onModuleInit(): void {
    this.sweeps.add({
      name: 'person sessions',
      everyMs: SWEEP_EVERY_MS,
      hasWork: `exists (select from person_session where ${SessionsRepository.over(this.idleMinutes)})`,
      run: (signal) => inBatches(signal, BATCH, (limit) => this.sessions.removeEnded(this.idleMinutes, limit)),
    });
  }

  /** As `PersonSessions.find`. */
  find(req: HeraldRequest): Promise<SignedInPerson> | null {
    const token = this.isOn ? cookieOf(req, SESSION_COOKIE) : null;
    if (token === null || token === '') return null;
    return this.read(token, req);
  }

  private async read(token: string, req: HeraldRequest): Promise<SignedInPerson> {
    if (!this.isFromConsole(req)) throw sessionErrors.SESSION_FROM_ANOTHER_PAGE();
    const session = TOKEN.test(token) ? await this.session(digestOf(token).toString('hex')) : null;
    if (session === null || session.endsAt <= systemClock.monotonic()) throw sessionErrors.SESSION_ENDED();
    this.noteUse(session.person.sessionId);
    return session.person;
  }

  /**
   * A form, an image or a link cannot set a header, and for a script of another origin the browser asks permission,
   * which Herald never gives. If the browser names the request's origin, it must be this one.
   */
  private isFromConsole({ headers }: HeraldRequest): boolean {
    if (headers[CONSOLE_HEADER.toLowerCase()] !== '1') return false;
    const site = headers['sec-fetch-site'];
    if (site !== undefined) return site === 'same-origin';
    return headers.origin === new URL(this.publicUrl.value).origin;
  }

  private session(hashed: string): Promise<KnownSession | null> {
    return this.known.get(hashed, async () => {
      const startedAt = systemClock.monotonic();
      const stored = await this.reader.submit(hashed);
      if (stored === null) return null;
      const { id, name, email, isOperator, sessionId, expiresAt } = stored;
      const person = { id, name, email, isOperator, sessionId, expiresAt };
      return { person, endsAt: startedAt + stored.endsInMs };
    });
  }

  /** As `PersonSessions.workspaceOf`. */
  async workspaceOf(person: SignedInPerson, req: HeraldRequest): Promise<WorkspaceOfPerson> {
    const [named, ...others] = req.headersDistinct[WORKSPACE_HEADER.toLowerCase()] ?? [];
    if (others.length > 0 || (named !== undefined && !isUuid(named))) {
      throw invalidField(WORKSPACE_HEADER, 'format', `${WORKSPACE_HEADER} must be the id of a workspace, once.`);
    }
    const id = named?.toLowerCase() ?? (await this.onlyWorkspace(person.id));
    const workspace = await this.inWorkspace(person, id);
    if (workspace === null) throw sessionErrors.SESSION_WORKSPACE_UNKNOWN();
    return workspace;
  }

  /** As `PersonSessions.inWorkspace`. */
  async inWorkspace(person: SignedInPerson, organizationId: string): Promise<WorkspaceOfPerson | null> {
    if (!isUuid(organizationId)) return null;
    const id = organizationId.toLowerCase();
    const found = await this.workspacesOf.get(`${person.id} ${id}`, () => this.sessions.workspace(person.id, id));
    return found === null ? null : withRole(found, person.isOperator);
  }

  private async onlyWorkspace(personId: string): Promise<string> {
    const [only, ...others] = await this.sessions.workspaces(personId, 2);
    if (only === undefined || others.length > 0) throw sessionErrors.SESSION_WORKSPACE_REQUIRED();
    return only.id;
  }

  /** As `PersonSessions.confirm`. */
  async confirm({ id, sessionId }: SignedInPerson, organizationId: string | null): Promise<void> {
    const open = await this.sessions.findOpen(sessionId, this.idleMinutes);
    if (open === null || (organizationId === null && !open.isOperator)) throw sessionErrors.SESSION_ENDED();
    if (organizationId === null) return;
    const found = await this.sessions.workspace(id, organizationId);
    if (found === null || withRole(found, open.isOperator) === null) throw sessionErrors.SESSION_WORKSPACE_UNKNOWN();
  }

  /** The workspaces to choose from, by name. An operator finds others through the admin API. */
  async workspaces({ id, isOperator }: Pick<SignedInPerson, 'id' | 'isOperator'>): Promise<WorkspaceOfPerson[]> {
    const found = await this.sessions.workspaces(id, MOST_WORKSPACES);
    return found.flatMap((each) => withRole(each, isOperator) ?? []);
  }

  /** Begins a session. Its text is for the cookie, and stored nowhere. In the ambient transaction. */
  async begin(personId: string, issuerSession: string | null): Promise<{ id: string; token: string }> {
    const token = randomBytes(32).toString('base64url');
    const session = { id: newId(), hash: digestOf(token), personId, issuerSession };
    await this.sessions.insert(session, this.config.people.sessionHours);
    return { id: session.id, token };
  }

  /** Ends the session of a cookie that is being replaced; null: there is none. */
  async replace(token: string | null): Promise<void> {
    if (token !== null && TOKEN.test(token)) await this.sessions.remove({ hash: digestOf(token) });
  }

  /** Sessions of one person, newest first. */
  list(personId: string): Promise<PersonSession[]> {
    return this.sessions.list(personId);
  }

  /**
   * Ends one session, or all of the person. Every process knows it within five seconds, usually at once.
   *
   * @param organizationId the workspace whose admin ends it; null: the person or an operator does
   */
  end(personId: string, sessionId?: string, organizationId: string | null = null): Promise<void> {
    return this.ending(personId, sessionId, organizationId, {});
  }

  /** The same, after the issuer reported the end of a session, or of the person's access. */
  endByIssuer(personId: string, sessionId?: string): Promise<void> {
    return this.ending(personId, sessionId, null, BY_ISSUER);
  }

  private ending(
    personId: string,
    sessionId: string | undefined,
    organizationId: string | null,
    more: object,
  ): Promise<void> {
    return this.database.transaction(async () => {
      const ended = await this.sessions.remove(sessionId === undefined ? { personId } : { id: sessionId, personId });
      const action = sessionId === undefined ? 'person.signed_out_everywhere' : 'person.signed_out';
      if (ended > 0) await this.audit.record({ action, organizationId, target: personId, details: { ended, ...more } });
      await this.changed(personId);
    });
  }

  /** Ends sessions that ended at the issuer: one by its name, or all of a person. */
  endAtIssuer(issuer: string, subject: string | null, issuerSession: string | null): Promise<void> {
    return this.database.transaction(async () => {
      for (const personId of await this.sessions.removeOf(issuer, subject, issuerSession)) {
        await this.audit.record({
          action: 'person.signed_out',
          organizationId: null,
          target: personId,
          details: BY_ISSUER,
        });
        await this.changed(personId);
      }
    });
  }

  /** Makes every process read the person's rights again, after the commit of the ambient transaction. */
  async changed(personId: string): Promise<void> {
    await this.invalidation.publish(SESSIONS_CHANGED, personId);
  }

  private forget(): void {
    this.known.clear();
    this.workspacesOf.clear();
  }

  /** At most once a minute; no request waits for it. */
  private noteUse(sessionId: string): void {
    if (this.noted.peek(sessionId) === true) return;
    this.noted.set(sessionId, true);
    this.sessions.touch(sessionId).catch((error: unknown) => {
      this.noted.delete(sessionId);
      this.logger.warn(`the time of last use of a session was not noted: ${describeError(error)}`);
    });
  }
}

function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Null where the person has no role. */
function withRole({ roles, ...workspace }: StoredWorkspace, isOperator: boolean): WorkspaceOfPerson | null {
  const role = isOperator ? 'operator' : strongest(roles);
  return role === null ? null : { ...workspace, role };
}
