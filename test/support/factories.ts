import { createHash, randomInt } from 'node:crypto';
import { newId } from '../../src/common/ids.js';
import { newKey } from '../../src/modules/keys/api-key-format.js';
import { SCOPES } from '../../src/infrastructure/http/scopes.js';
import type { SecretBox } from '../../src/infrastructure/secrets/secret-box.js';
import { insertMessage, type MessageSpec } from './message-factory.js';

/** Whatever runs a statement: `Database`, or a client of `pg` behind two lines. */
export interface Rows {
  execute(sql: string, params?: readonly unknown[]): Promise<number>;
}

export interface WorkspaceRow {
  id: string;
  name: string;
}

export interface KeyRow {
  id: string;
  /** What a caller sends. */
  text: string;
}

export interface ConnectionRow {
  id: string;
  organizationId: string;
  phoneNumberId: string;
  wabaId: string;
  /** Digits. */
  phoneNumber: string;
}

export interface ConversationRow {
  id: string;
  phone: string;
}

/** Writes rows directly and triggers nothing: no cache is invalidated, no lane woken, no event made. */
export class Factories {
  constructor(
    private readonly rows: Rows,
    /** Seals tokens so that the application can open them; without it they are unreadable. */
    private readonly secrets: Pick<SecretBox, 'seal'> | null = null,
  ) {}

  /** @param values `paidUntil` defaults to a day from now; null has not paid. */
  async workspace(
    values: { id?: string; name?: string; paidUntil?: Date | null; ratePerSecond?: number; rateBurst?: number } = {},
  ): Promise<WorkspaceRow> {
    const id = values.id ?? newId();
    const name = values.name ?? `Workspace ${id.slice(-6)}`;
    const paidUntil = values.paidUntil === undefined ? new Date(Date.now() + 86_400_000) : values.paidUntil;
    await this.rows.execute(
      'insert into organization (id, name, api_paid_until, rate_per_second, rate_burst) values ($1, $2, $3, $4, $5)',
      [id, name, paidUntil, values.ratePerSecond ?? null, values.rateBurst ?? null],
    );
    return { id, name };
  }

  /** @param values `scopes` defaults to every scope that is not OTP's. */
  async apiKey(values: {
    organizationId: string;
    scopes?: readonly string[];
    expiresAt?: Date | null;
    revokedAt?: Date | null;
  }): Promise<KeyRow> {
    const { id, secret, text } = newKey('live');
    await this.rows.execute(
      `insert into api_key (id, organization_id, name, secret_hash, scopes, expires_at, revoked_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [
        id,
        values.organizationId,
        `Key ${id}`,
        createHash('sha256').update(secret).digest(),
        values.scopes ?? SCOPES.filter((scope) => !scope.startsWith('otp:')),
        values.expiresAt ?? null,
        values.revokedAt ?? null,
      ],
    );
    return { id, text };
  }

  async connection(values: {
    organizationId: string;
    status?: 'connected' | 'pending' | 'disconnected' | 'restricted';
    throughputPerSecond?: number;
    token?: string;
    phoneNumberId?: string;
    wabaId?: string;
    phoneNumber?: string;
    marketingStatus?: string;
    marketingRoute?: 'auto' | 'messages';
  }): Promise<ConnectionRow> {
    const id = newId();
    const { organizationId } = values;
    const phoneNumberId = values.phoneNumberId ?? platformId();
    const wabaId = values.wabaId ?? platformId();
    const phoneNumber = values.phoneNumber ?? testPhone();
    const token = values.token ?? `token-${id}`;
    const place = { table: 'connection', column: 'token', organizationId, rowId: id };
    await this.rows.execute(
      `insert into connection (id, organization_id, phone_number_id, waba_id, phone_number, verified_name, status,
         throughput_per_second, token_ciphertext, marketing_status, marketing_route, facts_due_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, clock_timestamp() + interval '1 hour')`,
      [
        id,
        organizationId,
        phoneNumberId,
        wabaId,
        phoneNumber,
        'Test number',
        values.status ?? 'connected',
        values.throughputPerSecond ?? 80,
        this.secrets?.seal(token, place) ?? Buffer.from(token),
        values.marketingStatus ?? null,
        values.marketingRoute ?? 'auto',
      ],
    );
    return { id, organizationId, phoneNumberId, wabaId, phoneNumber };
  }

  /** A conversation whose window is open; `lastInboundAt: null` for one in which the contact never wrote. */
  async conversation(values: {
    connection: Pick<ConnectionRow, 'id' | 'organizationId'>;
    phone?: string | null;
    waId?: string | null;
    userId?: string | null;
    name?: string | null;
    lastInboundAt?: Date | null;
  }): Promise<ConversationRow> {
    const id = newId();
    const phone = values.phone === undefined ? testPhone() : values.phone;
    const lastInboundAt = values.lastInboundAt === undefined ? new Date() : values.lastInboundAt;
    await this.rows.execute(
      `insert into conversation (id, organization_id, connection_id, phone, wa_id, user_id, profile_name, last_inbound_at)
       values ($1, $2, $3, $4, $5, $6, $7, $8)`,
      [
        id,
        values.connection.organizationId,
        values.connection.id,
        phone,
        values.waId ?? null,
        values.userId ?? null,
        values.name ?? null,
        lastInboundAt,
      ],
    );
    return { id, phone: phone ?? '' };
  }

  /** A person who is a member of the workspace; returns the id. */
  async member(values: { organizationId: string; name: string; role?: string }): Promise<string> {
    const id = newId();
    await this.rows.execute(
      `insert into person (id, issuer, subject, email, name, is_operator, last_signed_in_at)
       values ($1::uuid, 'https://issuer.example', $1, $1 || '@example.com', $2, false, clock_timestamp())`,
      [id, values.name],
    );
    await this.rows.execute(
      `insert into membership (organization_id, person_id, source, role) values ($1, $2, 'invitation', $3)`,
      [values.organizationId, id, values.role ?? 'agent'],
    );
    return id;
  }

  /** A message in any state, with the timestamps and the attempt that belong to it. */
  message(values: MessageSpec): Promise<{ id: string; attemptId: string | null; metaMessageId: string | null }> {
    return insertMessage(this.rows, values);
  }

  /** Moves the time of a row's columns into the past; the database's clock is the only one, so rows are aged. */
  async age(table: string, id: string, seconds: number, ...columns: [string, ...string[]]): Promise<void> {
    const changes = columns.map((column) => `${column} = ${column} - make_interval(secs => $2)`).join(', ');
    const changed = await this.rows.execute(`update ${table} set ${changes} where id = $1`, [id, seconds]);
    if (changed !== 1) throw new Error(`${table} has no row ${id}`);
  }
}

let counter = randomInt(1_000_000);

/**
 * A number unique within a test file, for which the simulator plays no scenario. Those that begin with 15550 are left to
 * tests which write numbers down.
 */
export function testPhone(): string {
  counter++;
  return `1555${100 + (Math.floor(counter / 9_000) % 900)}${1_000 + (counter % 9_000)}`;
}

/** A number for which the simulator plays the scenario of these last four digits, such as `0002`. */
export function scenarioPhone(lastDigits: string): string {
  counter++;
  return `1555${String(counter % 1_000).padStart(3, '0')}${lastDigits}`;
}

/** An id of the platform's shape. */
export function platformId(): string {
  return `1${Array.from({ length: 14 }, () => randomInt(10)).join('')}`;
}
