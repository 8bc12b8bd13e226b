import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { digestOf } from './fixture.js';

export interface FileRow extends Record<string, unknown> {
  id: string;
  status: string;
  sha256: string | null;
  tries: number;
  failure: string | null;
}

/** Files of customers, from the simulator to the storage. */
export class CustomersFiles {
  private constructor(
    readonly test: TestApp,
    readonly sender: TestSender,
  ) {}

  static async start(): Promise<CustomersFiles> {
    const test = await startTestApp({ env: { MEDIA_MIN_FREE_MIB: '0' } });
    return new CustomersFiles(test, await test.sender());
  }

  async control(path: string, body?: unknown): Promise<Record<string, unknown>> {
    const response = await fetch(`${this.test.simulatorUrl}/_simulator/${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Record<string, unknown>;
  }

  /** A customer sends an image; returns its row once there is one. */
  async sent(bytes: Buffer): Promise<FileRow> {
    await this.control('inbound', {
      phone_number_id: this.sender.connection.phoneNumberId,
      from: testPhone(),
      message: { type: 'image', image: { caption: 'look' } },
      file: { base64: bytes.toString('base64'), mime_type: 'image/jpeg' },
    });
    const announced = digestOf(bytes);
    return waitFor(async () => (await this.rowsOf('sha256', announced))[0], { what: 'the row of a file' });
  }

  stored(id: string): Promise<FileRow> {
    return waitFor(async () => (await this.rowsOf('id', id)).find((row) => row.status === 'stored'), {
      what: 'a stored file',
    });
  }

  private rowsOf(column: 'id' | 'sha256', value: string): Promise<FileRow[]> {
    return this.test.database.query<FileRow>(
      `select id, status, sha256, tries, failure from media_object where ${column} = $1`,
      [value],
    );
  }
}
