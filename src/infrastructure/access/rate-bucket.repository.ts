import { Injectable } from '@nestjs/common';
import { Database } from '../database/database.js';
import type { Ask, Grant } from './leased-buckets.js';

interface GrantRow extends Grant {
  key: string;
}

/** The only place with SQL of the table `rate_bucket`: token buckets that all processes share, by the database's clock. */
@Injectable()
export class RateBucketRepository {
  constructor(private readonly database: Database) {}

  /** Gives and takes tokens; buckets that nobody has used yet begin full. One grant an ask, in the same order. */
  async exchange(asks: readonly Ask[]): Promise<Grant[]> {
    const grants = new Map<string, Grant>();
    let open = asks;
    for (let tries = 0; open.length > 0 && tries < 2; tries++) {
      if (tries > 0) await this.create(open);
      for (const row of await this.move(open)) grants.set(row.key, { granted: row.granted, left: row.left });
      open = open.filter((ask) => !grants.has(ask.key));
    }
    return asks.map((ask) => grants.get(ask.key) ?? { granted: 0, left: 0 });
  }

  /** Rows are locked in the order of their keys, so that two processes never wait for each other in a ring. */
  private move(asks: readonly Ask[]): Promise<GrantRow[]> {
    return this.database.detached(() =>
      this.database.query<GrantRow>(
        `with ask as (
           select * from unnest($1::text[], $2::float8[], $3::float8[], $4::float8[], $5::float8[])
             as a(key, want, held, rate, burst)
         ), bucket as (
           select b.key, t.at, a.want,
             least(a.burst - a.held,
               b.tokens + greatest(extract(epoch from t.at - b.refilled_at), 0) * a.rate + greatest(-a.want, 0)
             ) as level
           from rate_bucket b join ask a on a.key = b.key cross join lateral (select clock_timestamp() as at) t
           order by b.key
           for update of b
         ), share as (
           select key, at, level, greatest(least(want, floor(level)), 0) as granted from bucket
         )
         update rate_bucket b set tokens = s.level - s.granted,
           -- Further ahead than two processes overtake one another: the database's clock has stepped back.
           refilled_at = case when b.refilled_at > s.at + interval '1 second' then s.at
             else greatest(s.at, b.refilled_at) end
         from share s where b.key = s.key
         returning b.key, s.granted, b.tokens as left`,
        [
          asks.map((ask) => ask.key),
          asks.map((ask) => ask.want),
          asks.map((ask) => ask.held),
          asks.map((ask) => ask.limits.ratePerSecond),
          asks.map((ask) => ask.limits.burst),
        ],
      ),
    );
  }

  private async create(asks: readonly Ask[]): Promise<void> {
    await this.database.detached(() =>
      this.database.execute(
        `insert into rate_bucket (key, tokens, refilled_at)
         select key, burst, clock_timestamp() from unnest($1::text[], $2::float8[]) as a(key, burst) order by key
         on conflict (key) do nothing`,
        [asks.map((ask) => ask.key), asks.map((ask) => ask.limits.burst)],
      ),
    );
  }
}
