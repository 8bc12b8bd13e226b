import { createHash, randomInt } from 'node:crypto';
import type { Pool } from 'pg';
import { newId } from '../../../src/common/ids.js';
import { newKey } from '../../../src/modules/keys/api-key-format.js';
import { isOtpScope, SCOPES } from '../../../src/infrastructure/http/scopes.js';
import { benchSecrets } from './secrets.js';
import type { SimulatorNumber } from './simulator.js';

export interface SeededConnection extends SimulatorNumber {
  id: string;
  organizationId: string;
}

export interface SeededWorkspace {
  organizationId: string;
  /** The key's text, for `Authorization`. */
  apiKey: string;
  connections: readonly [SeededConnection, ...SeededConnection[]];
}

const UNLIMITED = 1_000_000;

let numbers = 0;

/** Writes workspaces into the database as the command line would, many in one statement. */
export class Workspaces {
  private readonly secrets = benchSecrets();

  constructor(private readonly pool: Pool) {}

  /** @param throughputPerSecond of each number, whatever the platform reports; its own default is 80 */
  async create(connectionCount = 1, throughputPerSecond = 80): Promise<SeededWorkspace> {
    const organizationId = newId();
    await this.pool.query(
      `insert into organization (id, name, api_paid_until, rate_per_second, rate_burst)
       values ($1, 'Bench', now() + interval '1 day', $2, $2)`,
      [organizationId, UNLIMITED],
    );
    const apiKey = await this.insertKey(organizationId);
    const connections: [SeededConnection, ...SeededConnection[]] = [
      await this.insertConnection(organizationId, throughputPerSecond),
    ];
    while (connections.length < connectionCount) {
      connections.push(await this.insertConnection(organizationId, throughputPerSecond));
    }
    return { organizationId, apiKey, connections };
  }

  private async insertKey(organizationId: string): Promise<string> {
    const key = newKey('live');
    await this.pool.query(
      `insert into api_key (id, organization_id, name, secret_hash, scopes) values ($1, $2, 'Bench', $3, $4)`,
      [
        key.id,
        organizationId,
        createHash('sha256').update(key.secret).digest(),
        SCOPES.filter((scope) => !isOtpScope(scope)),
      ],
    );
    return key.text;
  }

  private async insertConnection(organizationId: string, throughputPerSecond: number): Promise<SeededConnection> {
    const id = newId();
    const ordinal = String(++numbers).padStart(6, '0');
    const connection: SeededConnection = {
      id,
      organizationId,
      phoneNumberId: `1065${randomInt(1_000_000)}${ordinal}`,
      wabaId: `2065${ordinal}`,
      phoneNumber: `4930${ordinal}1`,
    };
    const place = { table: 'connection', column: 'token', organizationId, rowId: id };
    await this.pool.query(
      `insert into connection (id, organization_id, phone_number_id, waba_id, phone_number, status,
         throughput_per_second, throughput_fixed, token_ciphertext)
       values ($1, $2, $3, $4, $5, 'connected', $6, true, $7)`,
      [
        id,
        organizationId,
        connection.phoneNumberId,
        connection.wabaId,
        connection.phoneNumber,
        throughputPerSecond,
        this.secrets.seal('bench-token', place),
      ],
    );
    return connection;
  }
}
