import { Injectable } from '@nestjs/common';
import { Database } from '../../../infrastructure/database/database.js';

/** A request that its caller may repeat. */
export interface RepeatableRequest {
  operatorKeyId: string;
  key: string;
  /** SHA-256 of the request's method, path and body. */
  fingerprint: Buffer;
}

export interface KeptAnswer {
  fingerprint: Buffer;
  /** The answer, without secrets. */
  answer: object;
}

/** SQL condition: a row has expired. */
export const REPEATS_OVER = `created_at < now() - interval '1 day'`;

/** The only place with SQL on the table `operator_repeat`. */
@Injectable()
export class OperatorRepeatsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Takes a key for a request, in the ambient transaction. Waits for a concurrent request with the same key. Returns
   * false where the key is in use.
   */
  claim({ operatorKeyId, key, fingerprint }: RepeatableRequest): Promise<boolean> {
    return this.database.changes(
      `insert into operator_repeat (operator_key_id, key, fingerprint) values ($1, $2, $3)
       on conflict (operator_key_id, key) do nothing`,
      [operatorKeyId, key, fingerprint],
    );
  }

  /** The stored answer to the request of a key; null where the key is unused. */
  find({ operatorKeyId, key }: RepeatableRequest): Promise<KeptAnswer | null> {
    return this.database.find<KeptAnswer & Record<string, unknown>>(
      'select fingerprint, answer from operator_repeat where operator_key_id = $1 and key = $2 and answer is not null',
      [operatorKeyId, key],
    );
  }

  /** Stores the answer to the first request of a key. */
  async keep(request: RepeatableRequest, organizationId: string | null, answer: string): Promise<void> {
    const { operatorKeyId, key, fingerprint } = request;
    await this.database.execute(
      `insert into operator_repeat as r (operator_key_id, key, fingerprint, organization_id, answer)
       values ($1, $2, $3, $4, $5::jsonb)
       on conflict (operator_key_id, key) do update set organization_id = excluded.organization_id, answer = excluded.answer
       where r.answer is null`,
      [operatorKeyId, key, fingerprint, organizationId, answer],
    );
  }

  /** Removes expired rows, at most `limit`; returns how many. */
  remove(limit: number): Promise<number> {
    return this.database.execute(
      `delete from operator_repeat where (operator_key_id, key) in
         (select operator_key_id, key from operator_repeat where ${REPEATS_OVER} order by created_at limit $1)`,
      [limit],
    );
  }
}
