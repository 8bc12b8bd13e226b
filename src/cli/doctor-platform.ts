import type pg from 'pg';
import { databaseClock } from '../common/clock.js';
import { runningSimulator } from '../bootstrap/demo-file.js';
import type { Config } from '../infrastructure/config/config.js';
import { endOfGraphVersion, GRAPH_VERSION, WARN_DAYS } from '../infrastructure/config/graph-version.js';
import { platformUrl } from '../infrastructure/whatsapp/connect-options.js';
import { isUnused } from '../infrastructure/whatsapp/webhook-names.js';
import { fail, ok, REACH_WITHIN_MS, type Result, warn } from './doctor-findings.js';

/** Any status proves that it is reachable: the path does not exist, and no token is sent. */
export async function checkPlatform(config: Config): Promise<Result> {
  const { apiUrl, apiVersion } = config.whatsapp;
  const running = apiUrl === null ? runningSimulator(config.process.dataDir) : null;
  const url = running ?? platformUrl(config.whatsapp);
  try {
    const response = await fetch(`${url}/${apiVersion}/`, { signal: AbortSignal.timeout(REACH_WITHIN_MS) });
    await response.body?.cancel();
    return ok(`${url} answers`);
  } catch (error) {
    const { cause, message } = error as Error;
    const reason = cause instanceof Error && cause.message !== '' ? cause.message : message;
    if (apiUrl === null) return warn(`the simulator does not run (it starts with npm start): ${reason}`);
    return fail(`${url} can't be reached: ${reason}`);
  }
}

/** Checks the configured version of WhatsApp's API; after a version's end, requests get another version's answers. */
export function checkGraphVersion({ whatsapp }: Config, now = databaseClock.date()): Result {
  const { apiVersion } = whatsapp;
  const end = endOfGraphVersion(apiVersion, now);
  const other =
    apiVersion === GRAPH_VERSION
      ? 'look for a newer Herald'
      : `set WHATSAPP_API_VERSION=${GRAPH_VERSION}, which this Herald is made for`;
  if (end === null) return ok(`${apiVersion}, whose end is not known here`);
  if (end.daysLeft <= 0) return warn(`${apiVersion} has ended on ${end.date}: ${other}`);
  if (end.daysLeft > WARN_DAYS) return ok(`${apiVersion}, served until ${end.date} or longer`);
  return warn(`${apiVersion} ends on ${end.date}, in ${end.daysLeft} days: ${other}`);
}

/** Limit of numbers in one line. */
const MAX_NUMBERS = 5;

/** Numbers that send less than they should, or nothing. */
export async function checkNumbers(client: pg.Client): Promise<Result> {
  const { rows } = await client.query<{ id: string; status: string; count: number; affected: number }>(
    `select id, status, count(*) over ()::int as count, count(*) filter (where status <> 'connected') over ()::int as affected
     from connection order by status = 'connected', id limit $1`,
    [MAX_NUMBERS],
  );
  const [first] = rows;
  if (first === undefined) return ok('none yet: herald connection add');
  if (first.affected === 0) return ok(`${first.count}, all connected`);
  const named = rows.filter(({ status }) => status !== 'connected').map(({ id, status }) => `${id} ${status}`);
  const more = first.affected > named.length ? `, and ${first.affected - named.length} more` : '';
  return warn(`${first.affected} of ${first.count}: ${named.join(', ')}${more}. See herald connection list`);
}

/** Numbers whose charged messages WhatsApp refuses. */
export async function checkPayment(client: pg.Client): Promise<Result> {
  const { rows } = await client.query<{ id: string; count: number }>(
    `select id, count(*) over ()::int as count from connection where payment_missing_at is not null
     order by payment_missing_at, id limit $1`,
    [MAX_NUMBERS],
  );
  const { rows: charged } = await client.query<{ count: number; since: string | null }>(
    `select count(*)::int as count, to_char(min(service_charged_since) at time zone 'UTC', 'YYYY-MM-DD') as since
     from connection where service_charged_since >= date_trunc('month', now())`,
  );
  const { count, since } = charged[0] ?? { count: 0, since: null };
  const used =
    count === 0
      ? ''
      : `; service messages of ${count} are charged, the free ones of the month used up, first on ${since}`;
  const [first] = rows;
  if (first === undefined) return ok(`WhatsApp reports no missing payment method${used}`);
  const ids = rows.map(({ id }) => id).join(', ');
  const more = first.count > rows.length ? `, and ${first.count - rows.length} more` : '';
  return warn(`no valid payment method for ${ids}${more}: add or repair it in WhatsApp Manager${used}`);
}

/** Erased people whom WhatsApp has not yet removed from the business's contact book. */
export async function checkContactBook(client: pg.Client): Promise<Result> {
  const { rows } = await client.query<{ waiting: number; failing: number }>(
    'select count(*)::int as waiting, count(*) filter (where tries > 2)::int as failing from contact_book_removal',
  );
  const { waiting, failing } = rows[0] ?? { waiting: 0, failing: 0 };
  if (failing === 0) return ok(waiting === 0 ? 'nothing waits' : `${waiting} erased people are being removed`);
  return warn(`WhatsApp does not remove ${failing} erased people from its contact book; the worker's log says why`);
}

/** The endpoint for marketing templates, and whether the accounts that have some may use WhatsApp's own. */
export async function checkMarketing(client: pg.Client): Promise<Result> {
  const { rows } = await client.query<{ id: string; status: string | null; affected: number }>(
    `select c.id, c.marketing_status as status, count(*) over ()::int as affected from connection c
     where c.status <> 'disconnected' and c.marketing_status is distinct from 'ONBOARDED' and exists (
       select from template t where t.organization_id = c.organization_id and t.waba_id = c.waba_id
         and t.category = 'MARKETING' and t.status = 'approved' and t.deleted_at is null)
     order by c.id limit $1`,
    [MAX_NUMBERS],
  );
  const { rows: counted } = await client.query<{ onboarded: number; fixed: number }>(
    `select count(*) filter (where marketing_status = 'ONBOARDED' and marketing_route = 'auto')::int as onboarded,
       count(*) filter (where marketing_route = 'messages')::int as fixed
     from connection where status <> 'disconnected'`,
  );
  const { onboarded, fixed } = counted[0] ?? { onboarded: 0, fixed: 0 };
  const set = fixed === 0 ? '' : `; ${fixed} set to messages`;
  const [first] = rows;
  if (first === undefined) return ok(`${onboarded} numbers send marketing templates by marketing_messages${set}`);
  const named = rows.map(({ id, status }) => `${id} ${status ?? 'not known yet'}`).join(', ');
  const more = first.affected > rows.length ? `, and ${first.affected - rows.length} more` : '';
  return warn(
    `marketing templates of ${named}${more} go by messages, which WhatsApp ends on 2027-10-13: onboard the account to marketing messages in WhatsApp Manager${set}`,
  );
}

/** Limit of notifications in one check, newest first. */
const MAX_NOTIFICATIONS = 10_000;
const MAX_NAMES = 20;

/** Parts of notifications that Herald does not apply: a new name may matter. */
export async function checkNotifications(client: pg.Client, { retention }: Config): Promise<Result> {
  const { rows } = await client.query<{ name: string; count: number }>(
    `select name, count(*)::int as count
     from (select unread from platform_notification where unread is not null order by id desc limit $1) as kept,
       jsonb_array_elements_text(unread) as name
     group by name order by count(*) desc, name`,
    [MAX_NOTIFICATIONS],
  );
  const unused = rows.filter(({ name }) => isUnused(name));
  const unknown = rows.filter(({ name }) => !isUnused(name));
  const list = (names: typeof rows) =>
    names
      .slice(0, MAX_NAMES)
      .map(({ name, count }) => `${name} ${count}`)
      .join(', ');
  const known = unused.length === 0 ? '' : `; known, but not used: ${list(unused)}`;
  if (unknown.length === 0) return ok(`nothing unknown came${known}`);
  return warn(
    `Herald does not know ${list(unknown)}${known}. Kept as they came for ${retention.notificationDays} days: look for a newer Herald`,
  );
}
