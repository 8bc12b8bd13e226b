import { Caller } from '../contract/fuzz/caller.js';
import { Checks } from '../contract/fuzz/checks.js';
import { publishedDescription } from '../contract/fuzz/description.js';
import { sendExamples } from '../contract/fuzz/examples.js';
import { Fuzzer, inParallel } from '../contract/fuzz/fuzzer.js';
import { Ledger } from '../contract/fuzz/ledger.js';
import { startStage, type Stage } from '../contract/fuzz/stage.js';
import { namesWorkspace, noteRequestStatements, tablesOf } from './request-statements.js';

/** Tables without a workspace, each with the reason. A new one must be put here, or get the column. */
const TABLES_WITHOUT_WORKSPACE: Readonly<Record<string, string>> = {
  organization: 'the workspaces themselves',
  otp_sender: "the service's own number; its codes belong to projects, which belong to workspaces",
  platform_notification: 'as it came in: one may be about several workspaces; never shown',
  notification_queue: 'ids of notifications that are still to be applied',
  lane: 'the state of a queue, by connection or endpoint; never shown',
  worker: 'the processes that work on lanes',
  heartbeat: 'when the sweeps ran',
  database_identity: 'one row: the server that was confirmed last',
  operator_key: 'of operators: for all workspaces, or for some',
  person: 'one that signs in: their memberships belong to workspaces',
  person_session: 'of a person, in all workspaces of theirs',
  person_grant: 'of a session of a person',
  rate_bucket: 'token buckets by key, project or address',
  message_content: 'parts of messages, by their ids; they go with the message',
  platform_message: "WhatsApp's ids of messages, by connection; they go with the message",
  schema_migration: 'which migrations have run, and what they did',
  usage_due: 'when each quarter of an hour is counted',
  usage_rate: "the operator's prices, for all",
};

/** Statements of requests that reach rows by another id than the workspace's: a part of their text, and the reason. */
const BY_ANOTHER_ID: Readonly<Record<string, string>> = {
  'from conversation c where c.connection_id = $1':
    'the connection was found with its workspace just before, in the same request',
  'from observation s join conversation k on k.id = s."conversationId"':
    'a change of control: the conversation was found with its workspace just before, in the same request',
  'select 1 from conversation where id = any($1) order by id for no key update': 'likewise',
  'from message m left join work w on w.message_id = m.id':
    'the state of each message was locked with its workspace just before, in the same transaction',
  'FROM "connection" "connection" WHERE "connection"."id" = any($1)':
    'fills the cache of connections, from which each caller gets those of its own workspace only',
};

/** Likewise, of work that now and then begins within a request and serves those of all. */
const NOW_AND_THEN: Readonly<Record<string, string>> = {
  'from api_key k join organization o on o.id = k.organization_id':
    'finds keys that are not cached, several in one statement: the key itself says whose it is',
  's.message_id between $2::uuid and $3::uuid\norder by s.message_id for update of s':
    'records what was answered to attempts that a worker has in flight: many in one statement, by their own ids',
  'where lease_until is not null and connection_id = any($1) and attempt_id = any($2)':
    'finds the attempts of a claim whose answer was lost, by the ids that this process made for them',
  'from unnest($1::uuid[]) as asked (id) join webhook_endpoint e on e.id = asked.id': 'likewise, of deliveries',
  'select attempt_id from otp_challenge where attempt_id = any($1)': 'likewise, of codes',
};

let stage: Stage;
let statements: ReturnType<typeof noteRequestStatements>;
/** Tables with a workspace. */
let owned: string[];
let without: string[];
let optional: string[];

beforeAll(async () => {
  statements = noteRequestStatements();
  stage = await startStage();
  const tables = await stage.test.database.query<{ name: string; nullable: string | null }>(
    `select t.table_name::text as name, c.is_nullable::text as nullable
     from information_schema.tables t
     left join information_schema.columns c on c.table_schema = t.table_schema and c.table_name = t.table_name
       and c.column_name = 'organization_id'
     where t.table_schema = 'public' and t.table_type = 'BASE TABLE'
       and not (select relispartition from pg_class where oid = format('public.%I', t.table_name)::regclass) order by 1`,
  );
  owned = tables.filter(({ nullable }) => nullable !== null).map(({ name }) => name);
  without = tables.filter(({ nullable }) => nullable === null).map(({ name }) => name);
  optional = tables.filter(({ nullable }) => nullable === 'YES').map(({ name }) => name);
});

afterAll(async () => {
  statements?.stop();
  await stage?.stop();
});

it('a table has a workspace, or a reason to have none', () => {
  expect(without).toEqual(Object.keys(TABLES_WITHOUT_WORKSPACE).sort());
  // Of the service's own settings, and answers to operators: no key of a workspace reads them.
  expect(optional).toEqual(['audit_event', 'operator_repeat']);
  expect(owned.length).toBeGreaterThan(15);
});

it('a statement of a request names the workspace, or reaches its rows by an id that was found with it', async () => {
  const description = publishedDescription();
  const caller = new Caller(stage.test.baseUrl, 8);
  const plan = { seed: 5, positive: 5, negative: 0 };
  const fuzzer = new Fuzzer(stage, new Checks(description), caller, new Ledger(), plan);
  try {
    for (const operation of description.operations) await sendExamples(fuzzer, operation);
    await inParallel(
      description.operations.map((operation) => () => fuzzer.positive(operation)),
      8,
    );
  } finally {
    caller.close();
  }
  const reached = [...statements.texts].filter((text) => tablesOf(text, owned).length > 0);
  // So that a run that reaches nothing does not pass.
  expect(reached.length).toBeGreaterThan(80);
  const reachedTables = new Set(reached.flatMap((text) => tablesOf(text, owned)));
  expect([...reachedTables]).toEqual(
    expect.arrayContaining(['connection', 'conversation', 'media_object', 'message', 'otp_challenge']),
  );
  const fragments = Object.keys(BY_ANOTHER_ID);
  const open = reached.filter((text) => !namesWorkspace(text));
  const allowed = [...fragments, ...Object.keys(NOW_AND_THEN)];
  expect(open.filter((text) => !allowed.some((fragment) => text.includes(fragment)))).toEqual([]);
  expect(fragments.filter((fragment) => !open.some((text) => text.includes(fragment)))).toEqual([]);
});

describe('the reading of a statement', () => {
  it.each([
    ['select * from message where id = $1', ['message'], false],
    ['select organization_id from message where id = $1', ['message'], false],
    ['-- organization_id = $1\nselect 1 from MESSAGE m where m.id = $1', ['message'], false],
    ['update message set status = $1 where organization_id = $2 and id = $3', ['message'], true],
    ['SELECT 1 FROM "message" "m" WHERE "m"."organization_id" = $1', ['message'], true],
    ['select 1 from message m join media f on f.organization_id = m.organization_id', ['media', 'message'], true],
    ['insert into message (id, organization_id) values ($1, $2)', ['message'], true],
    ['INSERT INTO "message" AS "M"("id", "organization_id") VALUES ($1, $2)', ['message'], true],
    ['select 1 from messages_of_another_table', [], false],
  ])('%s', (text, tables, named) => {
    expect(tablesOf(text, ['message', 'media'])).toEqual(tables);
    expect(namesWorkspace(text)).toBe(named);
  });
});
