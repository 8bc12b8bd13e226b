import type { AppError } from '../../common/app-error.js';
import type { Statements } from '../../infrastructure/database/database.js';
import { countryOfRecipient } from '../../infrastructure/whatsapp/account-number.js';
import { highestPrice } from '../usage/usage.types.js';
import { insertWebhookEvents, isoTime } from '../webhook/webhook.types.js';
import { billingErrors } from './billing.errors.js';
import { type LimitKind, type LimitState, shownLimit } from './limits.types.js';

/** A message as far as limits are concerned. */
export interface CountedMessage {
  id: string;
  organizationId: string;
  /** Digits, or a user id. */
  recipient: string;
  /** Null: no template, which is free. */
  templateCategory: string | null;
}

/** The limits of a workspace, and the day, the week and the month that it is there. */
interface LimitsRow {
  organizationId: string;
  messagesPerDay: number | null;
  marketingPerRecipientPerWeek: number | null;
  /** Millionths. */
  spendPerMonth: number | null;
  currency: string | null;
  day: string;
  week: string;
  month: string;
  dayEnds: Date;
  weekEnds: Date;
  monthEnds: Date;
  now: Date;
}

/** One count: of a workspace and period, or of a recipient in it. */
interface Account extends LimitState {
  organizationId: string;
  recipient: string;
  period: string;
  /** Since it was read. */
  taken: number;
  warned: number;
  /** A share that was reached now, in per cent; 0: none. */
  reached: number;
}

/** The share of a limit that is announced before all of it is used, in per cent. */
const WARNED_AT = 80;
/** Marked reservations that one transaction settles; the others are subtracted as they stand. */
export const SETTLED_AT_ONCE = 2_000;

/**
 * The limits of the workspaces of a transaction, which locks them to its end: of several processes one counts at a time,
 * so exactly as many messages are taken as a limit says. Lock nothing of a message afterwards that another transaction may
 * hold while it waits for the workspace.
 */
export class LimitBook {
  private readonly limits: ReadonlyMap<string, LimitsRow>;
  private readonly accounts = new Map<string, Account>();
  /** Of a template, in millionths, by category and country. */
  private readonly prices = new Map<string, number>();
  private readonly reserved: { message: CountedMessage; accounts: readonly Account[] }[] = [];

  private constructor(
    rows: readonly LimitsRow[],
    private readonly statements: Statements,
  ) {
    this.limits = new Map(rows.map((row) => [row.organizationId, row]));
  }

  /** Locks the workspaces that have limits, in one order, and reads what is used. In a transaction. */
  static async open(messages: readonly CountedMessage[], statements: Statements): Promise<LimitBook> {
    const ids = [...new Set(messages.map(({ organizationId }) => organizationId))];
    const rows = await statements.query<LimitsRow>(`${LIMITS} order by o.id for no key update of o`, [ids]);
    const book = new LimitBook(rows, statements);
    if (rows.length > 0) {
      await settle(
        statements,
        rows.map(({ organizationId }) => organizationId),
        messages.map(({ id }) => id),
      );
      await book.read(messages);
    }
    return book;
  }

  /** Settles some of what is marked, of one workspace. In a transaction. Returns how many messages. */
  static async settleSome(statements: Statements): Promise<number> {
    const [marked] = await statements.query<{ id: string }>(LOCK_MARKED);
    return marked === undefined ? 0 : settle(statements, [marked.id], []);
  }

  /** What is used at this moment, without a lock, and what the message would be refused for. */
  static async look(
    message: CountedMessage,
    statements: Statements,
  ): Promise<{ states: LimitState[]; refusal: LimitState | null }> {
    const rows = await statements.query<LimitsRow>(LIMITS, [[message.organizationId]]);
    const book = new LimitBook(rows, statements);
    await book.read([message]);
    return { states: book.accountsOf(message), refusal: book.refusalOf(message) };
  }

  /** Counts the messages that have room, in their order, each as if it were taken; returns the others. */
  split<M extends CountedMessage>(messages: readonly M[]): { fit: M[]; over: M[] } {
    const planned = new Map<Account, number>();
    const fit: M[] = [];
    const over: M[] = [];
    for (const message of messages) {
      const accounts = this.accountsOf(message);
      const hasRoom = accounts.every((account) => this.fits(account, message, planned.get(account)));
      (hasRoom ? fit : over).push(message);
      if (!hasRoom) continue;
      for (const account of accounts) {
        planned.set(account, (planned.get(account) ?? 0) + this.amountOf(account, message));
      }
    }
    return { fit, over };
  }

  /** The message was made. */
  take(message: CountedMessage): void {
    const accounts = this.accountsOf(message);
    if (accounts.length === 0) return;
    for (const account of accounts) {
      const amount = this.amountOf(account, message);
      account.used += amount;
      account.taken += amount;
      if (amount === 0 || account.kind === 'marketing_per_recipient_per_week') continue;
      // 100: there is no room for another one like it.
      const share = account.used * 100 >= account.limit * WARNED_AT ? WARNED_AT : 0;
      const reached = this.fits(account, message) ? share : 100;
      if (reached > account.warned) account.warned = account.reached = reached;
    }
    this.reserved.push({ message, accounts });
  }

  /** Why the message has no room. */
  refusalOf(message: CountedMessage): LimitState | null {
    return this.accountsOf(message).find((account) => !this.fits(account, message)) ?? null;
  }

  /** Writes what was taken, with the events of shares that were reached. */
  async write(): Promise<void> {
    if (this.reserved.length === 0) return;
    const used = [...new Set(this.reserved.flatMap(({ accounts }) => accounts))];
    const rows = this.reserved.map(({ message, accounts }) => {
      const { id, organizationId, recipient } = message;
      const week = accounts.find(({ kind }) => kind === 'marketing_per_recipient_per_week');
      const day = accounts.find(({ kind }) => kind === 'messages_per_day');
      const month = accounts.find(({ kind }) => kind === 'spend_per_month');
      return {
        id,
        organizationId,
        day: day?.period,
        week: week?.period,
        recipient: week?.recipient,
        month: month?.period,
        ...(month && { amount: this.amountOf(month, message), country: countryOfRecipient(recipient) }),
      };
    });
    await this.statements.execute(WRITE, [JSON.stringify(used), JSON.stringify(rows)]);
    const reached = used.flatMap(({ reached: percent, organizationId, ...state }) =>
      percent > 0 ? [{ organizationId, data: { kind: state.kind, percent, ...shownLimit(state) } }] : [],
    );
    if (reached.length > 0) await this.statements.execute(ANNOUNCE, [JSON.stringify(reached)]);
  }

  private fits(account: Account, message: CountedMessage, planned = 0): boolean {
    const amount = this.amountOf(account, message);
    return amount === 0 || account.used + planned + amount <= account.limit;
  }

  private amountOf({ kind }: Account, message: CountedMessage): number {
    return kind === 'spend_per_month' ? (this.prices.get(marketOf(message)) ?? 0) : 1;
  }

  private async read(messages: readonly CountedMessage[]): Promise<void> {
    for (const message of messages) this.open(message);
    const keys = [...this.accounts.values()];
    if (keys.length === 0) return;
    const rows = await this.statements.query<{ index: number; used: number; warned: number }>(USED, [
      JSON.stringify(keys.map((key, index) => ({ ...key, index }))),
      [...this.limits.keys()],
    ]);
    for (const { index, used, warned } of rows) Object.assign(keys[index] as Account, { used, warned });
    if (keys.some(({ kind }) => kind === 'spend_per_month')) await this.readPrices(messages);
  }

  private async readPrices(messages: readonly CountedMessage[]): Promise<void> {
    const templates = messages.filter(({ templateCategory }) => templateCategory !== null);
    const markets = new Map(templates.map((message) => [marketOf(message), message]));
    if (markets.size === 0) return;
    const rows = await this.statements.query<{ market: string; price: number }>(PRICES, [
      JSON.stringify(
        [...markets].map(([market, { templateCategory, recipient }]) => ({
          market,
          category: templateCategory?.toLowerCase(),
          country: countryOfRecipient(recipient),
        })),
      ),
    ]);
    for (const { market, price } of rows) this.prices.set(market, price);
  }

  private open({ organizationId, recipient, templateCategory }: CountedMessage): void {
    const row = this.limits.get(organizationId);
    if (row === undefined) return;
    this.add(row, 'messages_per_day', row.messagesPerDay, '', row.day, row.dayEnds);
    this.add(row, 'spend_per_month', row.spendPerMonth, '', row.month, row.monthEnds);
    if (templateCategory !== MARKETING) return;
    const { marketingPerRecipientPerWeek: limit, week, weekEnds } = row;
    this.add(row, 'marketing_per_recipient_per_week', limit, recipient, week, weekEnds);
  }

  private add(
    { organizationId, now, currency }: LimitsRow,
    kind: LimitKind,
    limit: number | null,
    recipient: string,
    period: string,
    renewsAt: Date,
  ): void {
    const key = keyOf(organizationId, kind, recipient);
    if (limit === null || this.accounts.has(key)) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((renewsAt.getTime() - now.getTime()) / 1_000));
    this.accounts.set(key, {
      organizationId,
      kind,
      limit,
      currency: kind === 'spend_per_month' ? currency : null,
      recipient,
      period,
      renewsAt,
      retryAfterSeconds,
      used: 0,
      taken: 0,
      warned: 0,
      reached: 0,
    });
  }

  private accountsOf({ organizationId, recipient, templateCategory }: CountedMessage): Account[] {
    const keys = [keyOf(organizationId, 'messages_per_day', ''), keyOf(organizationId, 'spend_per_month', '')];
    if (templateCategory === MARKETING) keys.push(keyOf(organizationId, 'marketing_per_recipient_per_week', recipient));
    return keys.flatMap((key) => this.accounts.get(key) ?? []);
  }
}

/** WORKSPACE_LIMIT_REACHED (429), SPEND_LIMIT_REACHED (402) or RECIPIENT_LIMIT_REACHED (422). */
export function limitReached(state: LimitState): AppError {
  return billingErrors[ERRORS[state.kind]](state);
}

const ERRORS = {
  messages_per_day: 'WORKSPACE_LIMIT_REACHED',
  spend_per_month: 'SPEND_LIMIT_REACHED',
  marketing_per_recipient_per_week: 'RECIPIENT_LIMIT_REACHED',
} as const;

const MARKETING = 'MARKETING';

function marketOf({ templateCategory, recipient }: CountedMessage): string {
  return `${templateCategory}/${countryOfRecipient(recipient)}`;
}

function keyOf(organizationId: string, kind: LimitKind, recipient: string): string {
  return `${organizationId}/${kind}/${recipient}`;
}

const LIMITS = `
select o.id as "organizationId", o.messages_per_day as "messagesPerDay",
  o.marketing_per_recipient_per_week as "marketingPerRecipientPerWeek",
  (o.spend_per_month * 1000000)::float8 as "spendPerMonth",
  case when o.spend_per_month is not null then (select currency from usage_rate limit 1) end as currency, now.at as now,
  to_char(local.at, 'YYYY-MM-DD') as day, to_char(date_trunc('week', local.at), 'YYYY-MM-DD') as week,
  to_char(date_trunc('month', local.at), 'YYYY-MM-DD') as month,
  (date_trunc('day', local.at) + interval '1 day') at time zone o.time_zone as "dayEnds",
  (date_trunc('week', local.at) + interval '1 week') at time zone o.time_zone as "weekEnds",
  (date_trunc('month', local.at) + interval '1 month') at time zone o.time_zone as "monthEnds"
from organization o cross join (select clock_timestamp() as at) as now
cross join lateral (select now.at at time zone o.time_zone as at) as local
where o.id = any($1::uuid[])
  and num_nonnulls(o.messages_per_day, o.spend_per_month, o.marketing_per_recipient_per_week) > 0`;

const PRICES = `
select k.market, coalesce(${highestPrice('k.category', 'k.country', true)}, 0)::float8 as price
from json_to_recordset($1) as k (market text, category text, country text)`;

const MARKED = 'organization_id, day, week, recipient, month, amount, country, billed, released';

// From `marked`: what failed unsent counts no more, and what the platform has billed counts as that.
const BACK = `price as materialized (
  select billed, country, coalesce(${highestPrice('k.billed', 'k.country', false)}, 0) as price
  from (select distinct billed, country from marked where not released and month is not null and billed <> '') as k
), back as (
  select organization_id, 'messages_per_day' as kind, '' as recipient, day as period, count(*)::bigint as n
  from marked where released and day is not null group by organization_id, day
  union all
  select organization_id, 'marketing_per_recipient_per_week', recipient, week, count(*)::bigint
  from marked where released and week is not null and recipient is not null group by organization_id, recipient, week
  union all
  select m.organization_id, 'spend_per_month', '', m.month, sum(m.amount - coalesce(p.price, 0))::bigint
  from marked m left join price p on not m.released and p.billed = m.billed and p.country is not distinct from m.country
  where m.month is not null group by m.organization_id, m.month
)`;

// Some, and in any case those of the messages that count again.
const SETTLE = `
with marked as (
  delete from limit_reservation where message_id = any($3::uuid[]) and (released or billed is not null)
    or message_id = any(array(
      select message_id from limit_reservation
      where organization_id = any($1::uuid[]) and (released or billed is not null) limit $2))
  returning ${MARKED}
), ${BACK}, settled as (
  update limit_use u set used = greatest(0, u.used - back.n) from back
  where u.organization_id = back.organization_id and u.kind = back.kind and u.recipient = back.recipient
    and u.period = back.period
)
select count(*)::integer as n from marked`;

async function settle(
  statements: Statements,
  workspaces: readonly string[],
  again: readonly string[],
): Promise<number> {
  const [settled] = await statements.query<{ n: number }>(SETTLE, [workspaces, SETTLED_AT_ONCE, again]);
  return settled?.n ?? 0;
}

export const ARE_MARKED = 'exists (select from limit_reservation where released or billed is not null)';
const LOCK_MARKED = `
select id from organization where id = (
  select organization_id from limit_reservation where released or billed is not null limit 1) for no key update`;

/**
 * SQL of an UPDATE that marks reservations by reports: what a message costs, or that it failed, which costs nothing. It waits
 * for no lock of a workspace.
 *
 * @param reports a part of the statement with `id`, `status`, `billable`, `pricing_category` and `pricing_type`.
 */
export function markBilled(reports: string): string {
  const isFree = `(r.billable is false or r.billable is null and r.pricing_type like 'free%')`;
  return `update limit_reservation l set billed = case when ${isFree} then '' else coalesce(r.pricing_category, '') end
  from ${reports} r
  where l.message_id = r.id and l.month is not null and l.billed is null and not l.released
    and (r.pricing_category is not null or ${isFree} or r.status = 'failed')`;
}

// Less what is marked and was not settled yet.
const USED = `
with marked as (
  select ${MARKED} from limit_reservation
  where organization_id = any($2::uuid[]) and (released or billed is not null)
), ${BACK}
select k.index, u.warned, greatest(0, u.used - coalesce(b.n, 0))::float8 as used
from json_to_recordset($1) as k (index integer, "organizationId" uuid, kind text, recipient text, period date)
join limit_use u on u.organization_id = k."organizationId" and u.kind = k.kind and u.recipient = k.recipient
  and u.period = k.period
left join back b on b.organization_id = u.organization_id and b.kind = u.kind and b.recipient = u.recipient
  and b.period = u.period`;

const WRITE = `
with counted as (
  insert into limit_use as u (organization_id, kind, recipient, period, used, warned)
  select "organizationId", kind, recipient, period, taken, warned
  from json_to_recordset($1) as k ("organizationId" uuid, kind text, recipient text, period date, taken bigint, warned integer)
  on conflict (organization_id, kind, recipient, period)
  do update set used = u.used + excluded.used, warned = greatest(u.warned, excluded.warned)
)
insert into limit_reservation (message_id, organization_id, day, week, recipient, month, amount, country)
select id, "organizationId", day, week, recipient, month, amount, country
from json_to_recordset($2) as r (id uuid, "organizationId" uuid, day date, week date, recipient text, month date,
  amount bigint, country text)
on conflict (message_id)
do update set day = excluded.day, week = excluded.week, recipient = excluded.recipient, month = excluded.month,
  amount = excluded.amount, country = excluded.country, billed = null, released = false`;

const ANNOUNCE = `
with reached as (
  select "organizationId" as organization_id, 'workspace.limit.reached'::text as event_type, now.at as occurred_at,
    null::uuid[] as connection_ids, null::bytea as trace_context,
    data || jsonb_build_object('occurred_at', ${isoTime('now.at')}) as event_data
  from json_to_recordset($1) as k ("organizationId" uuid, data jsonb)
  cross join (select clock_timestamp() as at) as now
), ${insertWebhookEvents('reached')}
select count(*) from announced`;
