import { Child } from './child.js';
import { compiled } from './paths.js';
import type { Scope } from './scope.js';

/** A message that the simulator took, as its control call returns it. */
export interface TakenMessage {
  id: string;
  to: string;
  /** The attempt's id. */
  callback: string | null;
  taken_at: string;
  phone_number_id: string;
}

export interface SimulatorNumber {
  phoneNumberId: string;
  wabaId: string;
  phoneNumber: string;
}

export interface SimulatorOptions {
  webhookUrl?: string;
  appSecret?: string;
  dataDir?: string;
  /** Whether it reports sent, delivered and read. Default: off. */
  statuses?: 'on' | 'off';
}

const PAGE = 5_000;

/** The stand-in for the platform, in a process of its own, and its control calls. */
export class SimulatorProcess {
  private constructor(
    readonly url: string,
    readonly child: Child,
  ) {}

  static async start(scope: Scope, options: SimulatorOptions = {}): Promise<SimulatorProcess> {
    const args = [compiled('simulator/src/main'), '--port', '0', '--number', '1,1,4930000001,Bench'];
    if (options.webhookUrl !== undefined) args.push('--webhook-url', options.webhookUrl);
    if (options.appSecret !== undefined) args.push('--app-secret', options.appSecret);
    if (options.dataDir !== undefined) args.push('--data-dir', options.dataDir);
    const child = Child.start(scope, { name: 'the simulator', args });
    const match = await child.line(/listens on (http:\S+)/);
    const simulator = new SimulatorProcess(match[1] ?? '', child);
    if (options.statuses !== 'on') await simulator.control('POST', 'faults', { statuses: 'off' });
    return simulator;
  }

  async addNumber(number: SimulatorNumber): Promise<void> {
    await this.control('POST', 'numbers', {
      phone_number_id: number.phoneNumberId,
      waba_id: number.wabaId,
      display_phone_number: number.phoneNumber,
    });
  }

  /** How many messages were taken since the last reset. */
  async count(): Promise<number> {
    return ((await this.control('GET', 'count')) as { count: number }).count;
  }

  /** Statuses that the webhook has not confirmed yet. */
  async pendingNotifications(): Promise<number> {
    return ((await this.control('GET', 'count')) as { notifications: { pending: number } }).notifications.pending;
  }

  /** Everything that was taken, in order; with `to` only what went to that number. */
  async taken(to?: string): Promise<TakenMessage[]> {
    const found: TakenMessage[] = [];
    let after: string | null = null;
    for (;;) {
      const query = new URLSearchParams({ limit: String(PAGE) });
      if (to !== undefined) query.set('to', to);
      if (after !== null) query.set('after', after);
      const page = (await this.control('GET', `messages?${query.toString()}`)) as {
        data: TakenMessage[];
        paging: { after: string | null; has_more: boolean };
      };
      found.push(...page.data);
      if (!page.paging.has_more) return found;
      after = page.paging.after;
    }
  }

  async control(method: string, path: string, body?: object): Promise<unknown> {
    const response = await fetch(`${this.url}/_simulator/${path}`, {
      method,
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`the simulator answered ${response.status}: ${await response.text()}`);
    return response.json();
  }
}
