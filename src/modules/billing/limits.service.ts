import type { AppError } from '../../common/app-error.js';
import type { Statements } from '../../infrastructure/database/database.js';
import { countryOfRecipient } from '../../infrastructure/whatsapp/account-number.js';
import { highestPrice } from '../usage/usage.types.js';
import { insertWebhookEvents, isoTime } from '../webhook/webhook.types.js';
import { billingErrors } from './billing.errors.js';
import { type LimitKind, type LimitState, shownLimit } from './limits.types.js';

/** The properties of a message that limits need. */
export interface CountedMessage {
  id: string;
  organizationId: string;
  /** Digits, or a user id. */
  recipient: string;
  /** The person, for a marketing template; other messages are not counted per person. */
  person?: { name: string; others: readonly string[] } | undefined;
  /** Absent: not a template, so it costs nothing. */
  templateCategory?: string | null | undefined;
}

/** The limits of a workspace, and its present day, week and month. */
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

/** One count: of a workspace in a period, or of a recipient in it. */
interface Account extends LimitState {
  organizationId: string;
  recipient: string;
  /** The recipient, and other names of the same person, which may have counts of their own. */
  recipients: string[];
  period: string;
  /** Added since it was read. */
  taken: number;
  warned: number;
  /** A share of the limit that was reached now, in percent; 0: none. */
  reached: number;
}

/** The share of a limit that is announced in advance, in percent. */
const WARNED_AT = 80;
/** Limit of corrections settled in one transaction. */
export const SETTLED_AT_ONCE = 2_000;

/**
 * The limits of the workspaces in a transaction, which locks them until its end: only one process counts at a time, so
 * a limit is exact. Afterwards, do not lock anything of a message that another transaction may hold while it waits for
 * the workspace.
 */
export class LimitBook {
  private readonly limits: ReadonlyMap<string, LimitsRow>;
  private readonly accounts = new Map<string, Account>();
  /** Prices of templates in millionths, by category and country. */
  private readonly prices = new Map<string, number>();
  private readonly reserved: { message: CountedMessage; accounts: readonly Account[] }[] = [];

  private constructor(
    rows: readonly LimitsRow[],
    private readonly statements: Statements,
  ) {
    this.limits = new Map(rows.map((row) => [row.organizationId, row]));
  }

  /** Locks the workspaces that have limits, in a fixed order, and reads their counts. In a transaction. */
  static async open(messages: readonly CountedMessage[], statements: Statements): Promise<LimitBook> {
    const ids = [...new Set(messages.map(({ organizationId }) => organizationId))];
    const rows = await statements.query<LimitsRow>(`${LIMITS} order by o.id for no key update of o`, [ids]);
    const book = new LimitBook(rows, statements);
    await book.read(messages);
    return book;
  }

  /** Adds the corrections of one workspace to its counts, which it locks. In a transaction. Returns how many. */
  static async settle(organizationId: string, statements: Statements): Promise<number> {
    await statements.execute('select from organization where id = $1 for no key update', [organizationId]);
    const [settled] = await statements.query<{ n: number }>(SETTLE, [organizationId, SETTLED_AT_ONCE]);
    return settled?.n ?? 0;
  }

  /** The present counts without a lock, and the limits for which the message would be refused. */
  static async look(
    message: CountedMessage,
    statements: Statements,
  ): Promise<{ states: LimitState[]; refusal: LimitState | null }> {
    const rows = await statements.query<LimitsRow>(LIMITS, [[message.organizationId]]);
    const book = new LimitBook(rows, statements);
    await book.read([message]);
    return { states: book.accountsOf(message), refusal: book.refusalOf(message) };
  }

  /** Counts the messages that have room, in order, as if each were stored; returns the others. */
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

  /** The message was stored. */
  take(message: CountedMessage): void {
    const accounts = this.accountsOf(message);
    if (accounts.length === 0) return;
    for (const account of accounts) {
      const amount = this.amountOf(account, message);
      account.used += amount;
      account.taken += amount;
      if (amount === 0 || account.kind === 'marketing_per_recipient_per_week') continue;
      // 100: there is no room for another such message.
      const share = account.used * 100 >= account.limit * WARNED_AT ? WARNED_AT : 0;
      const reached = this.fits(account, message) ? share : 100;
      if (reached > account.warned) account.warned = account.reached = reached;
    }
    this.reserved.push({ message, accounts });
  }

  /** The limit that leaves the message no room. */
  refusalOf(message: CountedMessage): LimitState | null {
    return this.accountsOf(message).find((account) => !this.fits(account, message)) ?? null;
  }

  /** Writes the counts, with events for shares that were reached. */
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
    ]);
    for (const { index, used, warned } of rows) Object.assign(keys[index] as Account, { used, warned });
    if (keys.some(({ kind }) => kind === 'spend_per_month')) await this.readPrices(messages);
  }

  private async readPrices(messages: readonly CountedMessage[]): Promise<void> {
    const templates = messages.filter(({ templateCategory }) => typeof templateCategory === 'string');
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

  private open(message: CountedMessage): void {
    const row = this.limits.get(message.organizationId);
    if (row === undefined) return;
    this.add(row, 'messages_per_day', row.messagesPerDay, [''], row.day, row.dayEnds);
    this.add(row, 'spend_per_month', row.spendPerMonth, [''], row.month, row.monthEnds);
    if (message.templateCategory !== MARKETING) return;
    const { marketingPerRecipientPerWeek: limit, week, weekEnds } = row;
    const names = [personOf(message), ...(message.person?.others ?? [])] as const;
    this.add(row, 'marketing_per_recipient_per_week', limit, names, week, weekEnds);
  }

  private add(
    { organizationId, now, currency }: LimitsRow,
    kind: LimitKind,
    limit: number | null,
    names: readonly [string, ...string[]],
    period: string,
    renewsAt: Date,
  ): void {
    const [recipient] = names;
    const key = keyOf(organizationId, kind, recipient);
    const known = this.accounts.get(key);
    if (known !== undefined) known.recipients = [...new Set([...known.recipients, ...names])];
    if (limit === null || known !== undefined) return;
    const retryAfterSeconds = Math.max(1, Math.ceil((renewsAt.getTime() - now.getTime()) / 1_000));
    this.accounts.set(key, {
      organizationId,
      kind,
      limit,
      currency: kind === 'spend_per_month' ? currency : null,
      recipient,
      recipients: [...names],
      period,
      renewsAt,
      retryAfterSeconds,
      used: 0,
      taken: 0,
      warned: 0,
      reached: 0,
    });
  }

  private accountsOf(message: CountedMessage): Account[] {
    const { organizationId, templateCategory } = message;
    const keys = [keyOf(organizationId, 'messages_per_day', ''), keyOf(organizationId, 'spend_per_month', '')];
    if (templateCategory === MARKETING) {
      keys.push(keyOf(organizationId, 'marketing_per_recipient_per_week', personOf(message)));
    }
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

export const MARKETING = 'MARKETING';

function personOf({ person, recipient }: CountedMessage): string {
  return person?.name ?? recipient;
}

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

// Includes corrections that are not settled yet. In one statement, since they may be settled at this moment.
const USED = `
select k.index, u.warned, greatest(0, u.used + c.amount)::float8 as used
from json_to_recordset($1) as k (index integer, "organizationId" uuid, kind text, recipients text[], period date)
cross join lateral (
  select coalesce(sum(u.used), 0) as used, coalesce(max(u.warned), 0) as warned from limit_use u
  where u.organization_id = k."organizationId" and u.kind = k.kind and u.recipient = any(k.recipients)
    and u.period = k.period) as u
cross join lateral (
  select coalesce(sum(c.amount), 0) as amount from limit_correction c
  where c.organization_id = k."organizationId" and c.kind = k.kind and c.recipient = any(k.recipients)
    and c.period = k.period) as c`;

// A correction of a deleted row has no effect.
const SETTLE = `
with gone as (
  delete from limit_correction where ctid = any(array(
    select ctid from limit_correction where organization_id = $1 order by kind, recipient, period limit $2))
  returning kind, recipient, period, amount
), settled as (
  update limit_use u set used = greatest(0, u.used + g.amount)
  from (select kind, recipient, period, sum(amount)::bigint as amount from gone group by kind, recipient, period) as g
  where u.organization_id = $1 and u.kind = g.kind and u.recipient = g.recipient and u.period = g.period
)
select count(*)::integer as n from gone`;

const WRITE = `
with counted as (
  insert into limit_use as u (organization_id, kind, recipient, period, used, warned)
  select "organizationId", kind, recipient, period, taken, warned
  from json_to_recordset($1) as k ("organizationId" uuid, kind text, recipient text, period date, taken bigint, warned integer)
  on conflict (organization_id, kind, recipient, period)
  do update set used = u.used + excluded.used, warned = greatest(u.warned, excluded.warned)
)
insert into limit_reservation as r (message_id, organization_id, day, week, recipient, month, amount, country)
select id, "organizationId", day, week, recipient, month, amount, country
from json_to_recordset($2) as k (id uuid, "organizationId" uuid, day date, week date, recipient text, month date,
  amount bigint, country text)
on conflict (message_id)
do update set day = excluded.day, week = excluded.week, recipient = excluded.recipient, month = excluded.month,
  amount = excluded.amount, country = excluded.country, billed = false, failed = false, given_back = false, counts = true,
  earlier = case when r.counts then to_jsonb(r) - '{earlier,recipient}'::text[] end`;

const ANNOUNCE = `
with reached as (
  select "organizationId" as organization_id, 'workspace.limit.reached'::text as event_type, now.at as occurred_at,
    null::uuid[] as connection_ids, null::bytea as trace_context,
    data || jsonb_build_object('occurred_at', ${isoTime('now.at')}) as event_data
  from json_to_recordset($1) as k ("organizationId" uuid, data jsonb)
  cross join (select clock_timestamp() as at) as now
), ${insertWebhookEvents('reached')}
select count(*) from announced`;
