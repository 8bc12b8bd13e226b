import type { Client } from 'pg';
import { Factories, testPhone, type ConnectionRow } from '../../../test/support/factories.js';
import { LIMITED } from '../../../test/support/limits.js';
import { newMessage } from '../../../test/support/new-message.js';
import { beginTransaction } from '../../../test/support/open-transaction.js';
import { openTestDatabase, type OpenTestDatabase } from '../../../test/support/test-database.js';
import { waitFor } from '../../../test/support/wait-for.js';
import { databaseClock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import type { Statements } from '../../infrastructure/database/database.js';
import { Tracing } from '../../infrastructure/operations/tracing.js';
import type { MediaService } from '../media/media.service.js';
import type { AppMessageReport, InboundReport } from '../message-state/message.types.js';
import { AcceptRepository, INSERT_MESSAGES } from './accept/accept.repository.js';
import { recordAppMessages } from './reports/app-messages.repository.js';
import { findNewMessages, storeMessages } from './reports/received-messages.repository.js';

let opened: OpenTestDatabase;
let connection: ConnectionRow;

/** None of these messages has a file. */
const NO_MEDIA = {} as MediaService;

beforeAll(async () => {
  opened = await openTestDatabase(4);
});
afterAll(() => opened.close());
beforeEach(async () => {
  const factories = new Factories(opened.database);
  const { id: organizationId } = await factories.workspace();
  connection = await factories.connection({ organizationId });
});

/** One that is inserted twice at once. */
interface Case {
  /** Inserts it in the transaction of another process. */
  first: (other: Client) => Promise<unknown>;
  /** Inserts it with another id; returns whether this made the message. */
  second: () => Promise<boolean>;
}

function accepted(tag?: string): Case {
  const message = newMessage(connection, testPhone(), tag === undefined ? {} : { tag });
  const accepts = new AcceptRepository(opened.database, Tracing.OFF, LIMITED);
  return {
    first: (other) => other.query(INSERT_MESSAGES.text, [JSON.stringify([message]), 24]),
    second: async () => (await accepts.accept({ ...message, id: newId() })).kind === 'inserted',
  };
}

/** Statements of another process's transaction. */
const statementsOf = (other: Client): Statements =>
  ({
    query: async (statement: string | { text: string }, params?: unknown[]) =>
      (await other.query(typeof statement === 'string' ? statement : statement.text, params)).rows,
  }) as unknown as Statements;

const cameFromWhatsApp = () => ({
  connectionId: connection.id,
  organizationId: connection.organizationId,
  metaMessageId: `wamid.${newId()}`,
  userId: null,
  type: 'text',
  content: { body: 'oi' },
  body: 'oi',
  occurredAt: databaseClock.date(),
  contextMessageId: null,
  businessNumber: connection.phoneNumber,
});

function received(): Case {
  const report: InboundReport = {
    ...cameFromWhatsApp(),
    from: testPhone(),
    profileName: null,
    context: {},
    opensWindow: false,
  };
  const store = async (statements: Statements) => {
    const found = await findNewMessages([report], statements);
    const [message] = await storeMessages(found, [null], statements, NO_MEDIA);
    return message?.created === true;
  };
  return { first: (other) => store(statementsOf(other)), second: () => store(opened.database) };
}

function sentInApp(): Case {
  const report: AppMessageReport = {
    ...cameFromWhatsApp(),
    contact: testPhone(),
    source: 'app',
    direction: 'outbound',
    status: 'sent',
    originalMetaId: null,
  };
  const record = async (statements: Statements) => {
    const [message] = await recordAppMessages([report], [null], statements, NO_MEDIA);
    return message?.created === true;
  };
  return { first: (other) => record(statementsOf(other)), second: () => record(opened.database) };
}

const rowsOf = (): Promise<Record<string, number>> =>
  opened.database.row(
    `select count(*)::integer as messages, count(c.message_id)::integer as contents, count(s.message_id)::integer as states
     from message m left join message_content c on c.message_id = m.id left join message_state s on s.message_id = m.id
     where m.connection_id = $1`,
    [connection.id],
  );

it.each<[string, () => Case, boolean]>([
  ['a message of one key', () => accepted(), true],
  ['a message of one key, with a tag', () => accepted('sale'), true],
  ['a received message', received, false],
  ['a message that was sent in the app', sentInApp, true],
])(
  '%s is made once where two processes make it at once, also where the first does not commit',
  async (_name, make, isOutbound) => {
    for (const end of ['commit', 'rollback'] as const) {
      const before = await rowsOf();
      const { first, second } = make();
      const other = await beginTransaction(opened.url);
      try {
        await first(other);
        const isMade = second();
        await waitFor(
          async () =>
            (await other.query('select from pg_stat_activity where pg_backend_pid() = any(pg_blocking_pids(pid))'))
              .rowCount === 1,
          { what: 'the second to wait for the first' },
        );
        await other.query(end);
        expect([end, await isMade]).toEqual([end, end === 'rollback']);
      } finally {
        await other.end();
      }
      const states = isOutbound ? 1 : 0;
      const { messages, contents, states: stated } = before as { messages: number; contents: number; states: number };
      expect(await rowsOf()).toEqual({ messages: messages + 1, contents: contents + 1, states: stated + states });
    }
  },
);

it('the journal has no unique index but its primary key, so that it can be partitioned', async () => {
  const indexes = await opened.database.query<{ name: string }>(
    `select i.indexrelid::regclass::text as name from pg_index i where i.indrelid = 'message'::regclass and i.indisunique`,
  );
  expect(indexes).toEqual([{ name: 'message_pkey' }]);
});
