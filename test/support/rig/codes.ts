import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { newId } from '../../../src/common/ids.js';
import { newKey } from '../../../src/modules/keys/api-key-format.js';
import { benchSecrets } from './secrets.js';
import { post } from './send-text.js';
import type { SimulatorNumber, SimulatorProcess } from './simulator.js';

/** The account on which the simulator has an approved template for codes from the start. */
const SENDER: SimulatorNumber = {
  phoneNumberId: '111470992846013',
  wabaId: '108733915920254',
  phoneNumber: '16505550177',
};
const TEMPLATE = 'login_code';
const A_MONTH = 1_000_000;

/** Settings under which a single key may ask for as many codes as a run needs. */
export const CODE_SETTINGS: Record<string, string> = {
  OTP_SENDS_PER_SECOND: '1000000',
  OTP_VERIFIES_PER_SECOND: '1000000',
};

/** A live project with a package for German numbers, and what its application does. */
export class CodeProject {
  private constructor(
    readonly organizationId: string,
    readonly id: string,
    readonly apiKey: string,
  ) {}

  /** Writes the sender, a workspace, its project, package and key, as the command line would. */
  static async seed(pool: Pool, simulator: SimulatorProcess, throughputPerSecond: number): Promise<CodeProject> {
    await simulator.addNumber(SENDER);
    const place = { table: 'otp_sender', column: 'token', organizationId: 'service', rowId: 'otp_sender' };
    await pool.query(
      `insert into otp_sender (id, phone_number_id, template_name, throughput_per_second, token_ciphertext)
       values (true, $1, $2, $3, $4)`,
      [SENDER.phoneNumberId, TEMPLATE, throughputPerSecond, benchSecrets().seal('bench-token', place)],
    );
    const project = await CodeProject.insert(pool, 'live');
    await pool.query(
      `insert into otp_allowance (project_id, organization_id, country, monthly_limit) values ($1, $2, 'DE', $3)`,
      [project.id, project.organizationId, A_MONTH],
    );
    return project;
  }

  /** A project without a sender: each answer has its code. */
  static sandbox(pool: Pool): Promise<CodeProject> {
    return CodeProject.insert(pool, 'sandbox');
  }

  private static async insert(pool: Pool, mode: 'live' | 'sandbox'): Promise<CodeProject> {
    const [organizationId, id] = [newId(), newId()];
    await pool.query(
      `insert into organization (id, name, rate_per_second, rate_burst) values ($1, 'Codes', 1000000, 1000000)`,
      [organizationId],
    );
    await pool.query(`insert into otp_project (id, organization_id, name, mode) values ($1, $2, 'Codes', $3)`, [
      id,
      organizationId,
      mode,
    ]);
    const key = newKey('live');
    await pool.query(
      `insert into api_key (id, organization_id, otp_project_id, name, secret_hash, scopes)
       values ($1, $2, $3, 'Codes', $4, $5)`,
      [
        key.id,
        organizationId,
        id,
        createHash('sha256').update(key.secret).digest(),
        ['otp:send', 'otp:verify', 'otp:read'],
      ],
    );
    return new CodeProject(organizationId, id, key.text);
  }

  /**
   * Asks for a code; resolves with its id and the time of the answer.
   *
   * @param to digits without `+`
   * @throws Error on any other answer than 202
   */
  send(apiUrl: string, to: string): Promise<{ id: string; answeredAt: number }> {
    return post(`${apiUrl}/api/v1/otp/send`, this.apiKey, { to: `+${to}`, ttl: 600 });
  }
}
