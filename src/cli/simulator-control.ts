import { request } from './api/client.js';

/** The simulator's control calls, see docs/simulator.md. */
export class SimulatorControl {
  constructor(
    private readonly url: string,
    private readonly signal?: AbortSignal,
  ) {}

  /** A customer writes to a number. */
  async inbound(phoneNumberId: string, from: string, text: string): Promise<{ id: string }> {
    const message = { type: 'text', text: { body: text } };
    return (await this.call('/inbound', { phone_number_id: phoneNumberId, from, message })) as { id: string };
  }

  /** Posts the `value` of a notification about messages. */
  async notify(value: object): Promise<void> {
    await this.call('/notify', { value });
  }

  /** Holds back the simulator's notifications about messages, or releases them. */
  async statuses(mode: 'hold' | 'on'): Promise<void> {
    await this.call('/faults', { statuses: mode });
  }

  /** How often the platform took a text for a recipient. */
  async timesTaken(to: string, text: string): Promise<number> {
    const query = new URLSearchParams({ to, limit: '1000' });
    const { data } = (await this.call(`/messages?${query.toString()}`)) as { data: object[] };
    return data.filter((message) => JSON.stringify(message).includes(text)).length;
  }

  private async call(path: string, body?: object): Promise<unknown> {
    const method = body === undefined ? 'GET' : 'POST';
    // What was held back must be let go also when the command is being ended.
    const signal = body !== undefined && 'statuses' in body ? undefined : this.signal;
    const response = await request(this.url, `${this.url}/_simulator${path}`, { method, body, signal });
    if (!response.ok) throw new Error(`the simulator answered ${response.status} to ${path}: ${await response.text()}`);
    const text = await response.text();
    return text === '' ? null : JSON.parse(text);
  }
}
