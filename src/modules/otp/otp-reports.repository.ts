import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import type { OtpPackageMove } from '../billing/otp-packages.types.js';
import type { OtpStatusReport } from './otp.types.js';
import { failed, moveOf, WIPE, type MoveRow } from './sending.repository.js';

/** A report, with the category of its failure. */
export type CodeReport = Pick<OtpStatusReport, 'status' | 'metaMessageId' | 'callbackData' | 'occurredAt'> & {
  category: string;
};

interface FoundRow {
  id: string;
  attempt_id: string;
  meta_message_id: string | null;
}

/** Statements on `otp_challenge` that apply what the platform reports. */
@Injectable()
export class OtpReportsRepository {
  constructor(private readonly database: Database) {}

  /**
   * Applies reports of the platform, in the ambient transaction. One result a report, in the same order; null where it
   * names no challenge.
   */
  async applyAll(reports: readonly CodeReport[]): Promise<({ move: OtpPackageMove | null } | null)[]> {
    const rows = await this.database.query<FoundRow>(FIND_REPORTED, [
      reports.flatMap(({ callbackData }) => callbackData ?? []),
      reports.flatMap(({ callbackData, metaMessageId }) => (callbackData === null ? metaMessageId : [])),
    ]);
    const byId = new Map(rows.flatMap((row) => [row.attempt_id, row.meta_message_id].map((id) => [id, row.id])));
    const results = reports.map(() => null as { move: OtpPackageMove | null } | null);
    // A statement changes a row once, so a code's second report is in the second one.
    const rounds: Map<string, number>[] = [];
    const seen = new Map<string, number>();
    for (const [index, { callbackData, metaMessageId }] of reports.entries()) {
      const id = byId.get(callbackData ?? metaMessageId);
      if (id === undefined) continue;
      const round = seen.get(id) ?? 0;
      seen.set(id, round + 1);
      (rounds[round] ??= new Map()).set(id, index);
    }
    for (const round of rounds) {
      const given = [...round].map(([id, index]) => ({ ...reports[index], id }));
      for (const [sql, those] of [
        [FAILED_REPORTS, given.filter(({ status }) => status === 'failed')],
        [ARRIVED, given.filter(({ status }) => status !== 'failed')],
      ] as const) {
        if (those.length === 0) continue;
        for (const row of await this.database.query<MoveRow & { id: string }>(sql, [JSON.stringify(those)])) {
          results[round.get(row.id) ?? -1] = { move: moveOf(row) };
        }
      }
    }
    return results;
  }
}

// A challenge is found by our attempt id, and where the platform left that out by its own id of the message.
const FIND_REPORTED = `
select id, attempt_id, meta_message_id from otp_challenge
where attempt_id = any($1::uuid[]) or meta_message_id = any($2::text[])
order by id for update`;

const REPORTED = `
  select c.id, c.package_used, c.released_at, r.category, r.status, r."metaMessageId",
    least(coalesce(r."occurredAt", clock_timestamp()), clock_timestamp()) as at
  from json_to_recordset($1) as r (id uuid, status text, "metaMessageId" text, "occurredAt" timestamptz, category text)
  join otp_challenge c on c.id = r.id`;

const FAILED_REPORTS = failed(REPORTED);

// Sent, delivered or read. A later state never moves back, and no time is earlier than the state before it: the
// platform's times are whole seconds.
const ARRIVED = `
with found as (${REPORTED})
update otp_challenge c set
  status = case
    when c.status in ('queued', 'sending', 'outcome_unknown') then r.status
    when c.status = 'sent' and r.status in ('delivered', 'read') then r.status
    when c.status = 'delivered' and r.status = 'read' then r.status
    else c.status end,
  meta_message_id = coalesce(c.meta_message_id, r."metaMessageId"), ${WIPE},
  sent_at = case when r.status = 'sent'
    then coalesce(c.sent_at, least(greatest(r.at, c.created_at), c.delivered_at, c.read_at)) else c.sent_at end,
  delivered_at = case when r.status = 'delivered'
    then coalesce(c.delivered_at, least(greatest(r.at, c.created_at, c.sent_at), c.read_at)) else c.delivered_at end,
  read_at = case when r.status = 'read'
    then coalesce(c.read_at, greatest(r.at, c.created_at, c.sent_at, c.delivered_at)) else c.read_at end,
  package_used = c.released_at is null
from found r where c.id = r.id
returning c.id, c.package_id, c.package_used, not r.package_used and r.released_at is null as used_now,
  false as released_now`;
