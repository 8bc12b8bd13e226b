import { randomUUID } from 'node:crypto';
import { describeError } from '../../src/common/describe-error.js';
import { recipientNumber } from '../support/rig/recipients.js';
import { CodeProject } from '../support/rig/codes.js';
import type { FaultStage } from './fault-stage.js';

const REQUEST_MS = 30_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
/** Its window has closed. */
const LATE = '4915100009999';

interface Answer {
  status: number;
  code: string | undefined;
  data: Record<string, unknown>;
  next: string;
}

/** Calls whose answers depend on what time it is, to processes whose hosts have other ones. */
export class WrongClockCalls {
  readonly violations: string[] = [];
  /** Messages that were taken. */
  readonly acknowledged: string[] = [];
  private codes = 0;

  private constructor(
    private readonly stage: FaultStage,
    private readonly project: CodeProject,
  ) {}

  static async prepare(stage: FaultStage): Promise<WrongClockCalls> {
    const { pool } = stage.stage.database;
    const [connection] = stage.workspace.connections;
    await pool.query(
      `insert into conversation (id, organization_id, connection_id, phone, last_inbound_at)
       values (gen_random_uuid(), $1, $2, $3, now() - interval '25 hours')`,
      [connection.organizationId, connection.id, LATE],
    );
    return new WrongClockCalls(stage, await CodeProject.sandbox(pool));
  }

  /** Windows, scheduled messages, ids, cursors and codes, each begun at one of the processes and gone on with at the other. */
  async check([ahead, behind]: readonly [string, string]): Promise<void> {
    for (const [name, one, other] of [
      ['ahead', ahead, behind],
      ['behind', behind, ahead],
    ] as const) {
      await this.windows(name, one);
      await this.times(name, one);
      await this.cursors(name, one, other);
      await this.code(name, one, other);
    }
  }

  private async windows(name: string, url: string): Promise<void> {
    const answer = await this.send(url, LATE);
    this.expect(`${name}: a text after the window`, answer, 422, 'SERVICE_WINDOW_CLOSED');
  }

  private async times(name: string, url: string): Promise<void> {
    const at = (ms: number) => ({ send_at: new Date(Date.now() + ms).toISOString() });
    const to = recipientNumber(0);
    const taken = await this.send(url, to, at(12_000));
    this.expect(`${name}: a message in 12 s`, taken, 202);
    const id = String(taken.data.id);
    if (taken.status === 202) this.acknowledged.push(id);
    const time = Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
    if (!(Math.abs(time - Date.now()) < HOUR_MS)) this.violations.push(`${name}: the id ${id} has another time`);
    this.expect(`${name}: a message of yesterday`, await this.send(url, to, at(-DAY_MS)), 422, 'SEND_AT_PASSED');
    this.expect(`${name}: a message in 36 days`, await this.send(url, to, at(36 * DAY_MS)), 422, 'VALIDATION_FAILED');
  }

  private async cursors(name: string, one: string, other: string): Promise<void> {
    const { apiKey } = this.stage.workspace;
    const page = await this.call('GET', `${one}/api/v1/events?limit=1`, apiKey);
    this.expect(`${name}: events`, page, 200);
    this.expect(
      `${name}: its cursor`,
      await this.call('GET', `${other}/api/v1/events?after=${page.next}`, apiKey),
      200,
    );
    const now = await this.call('GET', `${one}/api/v1/events?after=now`, apiKey);
    this.expect(`${name}: of now`, await this.call('GET', `${other}/api/v1/events?after=${now.next}`, apiKey), 200);
  }

  private async code(name: string, one: string, other: string): Promise<void> {
    const { apiKey } = this.project;
    const to = `+49151${String(2_000_000 + this.codes++)}`;
    const sent = await this.call('POST', `${one}/api/v1/otp/send`, apiKey, { to });
    this.expect(`${name}: a code`, sent, 202);
    const { id, test_code: code } = sent.data;
    this.expect(`${name}: its code`, await this.call('POST', `${other}/api/v1/otp/verify`, apiKey, { id, code }), 200);
  }

  private send(url: string, to: string, more: object = {}): Promise<Answer> {
    const [{ id }] = this.stage.workspace.connections;
    const body = { connection_id: id, to: `+${to}`, type: 'text', text: { body: 'Hello' }, ...more };
    return this.call('POST', `${url}/api/v1/messages`, this.stage.workspace.apiKey, body);
  }

  private async call(method: string, url: string, key: string, body?: object): Promise<Answer> {
    try {
      const response = await fetch(url, {
        method,
        signal: AbortSignal.timeout(REQUEST_MS),
        headers: {
          authorization: `Bearer ${key}`,
          ...(body !== undefined && { 'content-type': 'application/json', 'idempotency-key': randomUUID() }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const answer = (await response.json()) as { error?: { code: string }; data?: Answer['data']; next?: string };
      return { status: response.status, code: answer.error?.code, data: answer.data ?? {}, next: answer.next ?? '' };
    } catch (error) {
      return { status: 0, code: describeError(error), data: {}, next: '' };
    }
  }

  private expect(what: string, answer: Answer, status: number, code?: string): void {
    if (answer.status === status && answer.code === code) return;
    this.violations.push(`${what} was answered ${answer.status} ${answer.code ?? ''}`);
  }
}
