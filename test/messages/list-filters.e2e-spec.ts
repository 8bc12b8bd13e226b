import { newId } from '../../src/common/ids.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { listenFor } from '../support/webhook-events.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';

const HOUR_MS = 3_600_000;
const hoursAgo = (hours: number): string => new Date(Date.now() - hours * HOUR_MS).toISOString();

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { statusGapMs: 20 } });
});
beforeEach(async () => {
  workspace = await sendingWorkspace(test);
});
afterAll(() => test.stop());

const idsOf = async (path: string): Promise<string[]> => {
  const { status, body } = await workspace.api.get(path);
  expect({ status, body }).toMatchObject({ status: 200 });
  return (body.data as { id: string }[]).map(({ id }) => id);
};
/** The whole list, by pages of one. */
const paged = async (path: string): Promise<string[]> => {
  const ids: string[] = [];
  let next = '';
  do {
    const { status, body } = await workspace.api.get(`${path}&limit=1${next}`);
    expect({ status, body }).toMatchObject({ status: 200 });
    const { data, pagination } = body;
    ids.push(...(data as { id: string }[]).map(({ id }) => id));
    next =
      pagination.next_before === null ? '' : `&before=${pagination.next_before}&before_id=${pagination.next_before_id}`;
  } while (next !== '');
  return ids;
};

describe('statuses', () => {
  it('list messages in any of several states, in the order of the journal and in pages', async () => {
    const [read, failed, unknown, again] = [
      await workspace.sendText(await workspace.contact()),
      await workspace.sendText(await workspace.contact('0003')),
      await workspace.sendText(await workspace.contact()),
      await workspace.sendText(await workspace.contact('0003')),
    ];
    for (const id of [read, unknown]) await workspace.reaches(id, 'read');
    for (const id of [failed, again]) await workspace.reaches(id, 'failed');
    await test.database.execute(`update message_state set status = 'outcome_unknown' where message_id = $1`, [unknown]);
    const queued = (
      await workspace.send(await workspace.contact(), {
        body: { send_at: new Date(Date.now() + HOUR_MS).toISOString() },
      })
    ).body.data.id as string;
    const cases: [string, string[]][] = [
      ['failed,outcome_unknown', [again, unknown, failed]],
      ['failed', [again, failed]],
      ['queued,failed', [queued, again, failed]],
      ['queued,processing', [queued]],
      ['read,failed,outcome_unknown,queued', [queued, again, unknown, failed, read]],
      ['received,failed,failed', [again, failed]],
    ];
    for (const [statuses, ids] of cases) {
      expect([statuses, await idsOf(`/messages?statuses=${statuses}`)]).toEqual([statuses, ids]);
      expect([statuses, await paged(`/messages?statuses=${statuses}`)]).toEqual([statuses, ids]);
    }
    expect(await idsOf(`/messages?statuses=failed,outcome_unknown&failure_category=recipient_unreachable`)).toEqual(
      await idsOf(`/messages?failure_category=recipient_unreachable`),
    );
  });

  it.each(['statuses=lost', 'statuses=failed,', 'statuses=accepted', 'statuses=failed&status=failed'])(
    '400 for %s',
    async (query) => {
      const { status, body } = await workspace.api.get(`/messages?${query}`);
      expect([status, body.error.details?.[0]?.field]).toEqual([400, 'statuses']);
    },
  );
});

describe('since, until and category', () => {
  it('narrow opt-outs, in pages too', async () => {
    const ids: string[] = [];
    for (const category of ['marketing', 'all', 'marketing']) {
      const to = await workspace.contact();
      const { body } = await workspace.api.request({ method: 'PUT', path: '/opt-outs', body: { to, category } });
      ids.push(body.data.id as string);
    }
    for (const [hours, id] of [3, 2, 1].map((hours, index) => [hours, ids[index]] as const)) {
      await test.database.execute('update opt_out set since = $2 where id = $1', [id, hoursAgo(hours)]);
    }
    const [old, all, latest] = ids;
    expect(await paged('/opt-outs?source=own')).toEqual([latest, all, old]);
    expect(await paged('/opt-outs?category=marketing')).toEqual([latest, old]);
    expect(await idsOf('/opt-outs?category=all')).toEqual([all]);
    expect(await paged(`/opt-outs?since=${hoursAgo(2.5)}`)).toEqual([latest, all]);
    expect(await idsOf(`/opt-outs?since=${hoursAgo(2.5)}&until=${hoursAgo(1.5)}`)).toEqual([all]);
    expect(await idsOf(`/opt-outs?category=marketing&until=${hoursAgo(1.5)}`)).toEqual([old]);
    expect((await workspace.api.get('/opt-outs?category=none')).status).toBe(400);
  });

  it('narrow files, also where they are filtered by type', async () => {
    const { organizationId } = workspace;
    const ids = [newId(), newId(), newId()];
    for (const [index, id] of ids.entries()) {
      await test.database.execute(
        `insert into media_object (id, organization_id, connection_id, direction, type, mime_type, status, created_at)
         values ($1, $2, $4, 'outbound', 'image', 'image/png', 'failed', $3)`,
        [id, organizationId, hoursAgo(3 - index), workspace.connection.id],
      );
    }
    for (const more of ['', '&type=image', '&direction=outbound']) {
      const range = `since=${hoursAgo(2.5)}&until=${hoursAgo(1.5)}${more}`;
      expect([more, await idsOf(`/media?${range}`)]).toEqual([more, [ids[1]]]);
      expect(await paged(`/media?since=${hoursAgo(2.5)}${more}`)).toEqual([ids[2], ids[1]]);
    }
  });

  it('narrow conversations by their last message', async () => {
    const contacts = [await workspace.contact(), await workspace.contact(), await workspace.contact()];
    const ids: string[] = [];
    for (const [index, to] of contacts.entries()) {
      const id = await workspace.sendText(to);
      await workspace.reaches(id, 'read');
      ids.push((await workspace.message(id)).conversation_id as string);
      await test.database.execute('update message set created_at = $2 where id = $1', [id, hoursAgo(3 - index)]);
    }
    const [old, middle, latest] = ids;
    expect(await paged(`/conversations?since=${hoursAgo(2.5)}`)).toEqual([latest, middle]);
    expect(await paged(`/conversations?until=${hoursAgo(1.5)}`)).toEqual([middle, old]);
    const range = `since=${hoursAgo(2.5)}&until=${hoursAgo(1.5)}`;
    expect(await idsOf(`/conversations?${range}`)).toEqual([middle]);
    expect(await idsOf(`/conversations?${range}&connection_id=${workspace.connection.id}`)).toEqual([middle]);
    expect(await idsOf(`/conversations?${range}&to=${contacts[1]}`)).toEqual([middle]);
    expect(await idsOf(`/conversations?${range}&to=${contacts[2]}`)).toEqual([]);
  });

  it('narrow deliveries, also those of one event', async () => {
    const { organizationId } = workspace;
    await listenFor(test.database, organizationId);
    const endpoint = await test.database.row<{ id: string }>(
      'select id from webhook_endpoint where organization_id = $1',
      [organizationId],
    );
    const [event, ids] = [newId(), [newId(), newId(), newId()]];
    for (const [index, id] of ids.entries()) {
      await test.database.execute(
        `insert into webhook_delivery (id, organization_id, endpoint_id, event_id, event_type, attempt, status, duration_ms, created_at)
         values ($1, $2, $3, $4, 'message.status.updated', $5, 'failed', 1, $6)`,
        [id, organizationId, endpoint.id, event, index + 1, hoursAgo(3 - index)],
      );
    }
    for (const more of ['', '&status=failed', `&event_id=${event}`]) {
      const range = `since=${hoursAgo(2.5)}&until=${hoursAgo(1.5)}${more}`;
      expect([more, await idsOf(`/webhook/deliveries?${range}`)]).toEqual([more, [ids[1]]]);
    }
    expect(await paged(`/webhook/deliveries?since=${hoursAgo(2.5)}`)).toEqual([ids[2], ids[1]]);
  });
});
