import { startTestApp, type TestApp } from '../support/test-app.js';
import { GraphClient, refusalOf } from './fixture.js';

let test: TestApp;
let client: GraphClient;

beforeAll(async () => {
  test = await startTestApp();
  client = new GraphClient(test, await test.sender());
});

afterAll(() => test?.stop());

describe('GET /graph/{version}/{phone_number_id}', () => {
  it('describes the number by the names of the platform, with the fields that are asked for', async () => {
    const { phoneNumber, phoneNumberId } = client.sender.connection;
    const whole = await client.get(client.number);
    expect([whole.status, whole.body]).toEqual([
      200,
      {
        id: phoneNumberId,
        verified_name: expect.any(String) as string,
        display_phone_number: `+${phoneNumber}`,
        quality_rating: expect.any(String) as string,
        platform_type: 'CLOUD_API',
        throughput: { level: 'HIGH' },
      },
    ]);
    const fields = 'id,status,display_phone_number,webhook_configuration,profile{about,email},throughput{level}';
    expect((await client.get(`${client.number}?fields=${encodeURIComponent(fields)}`)).body).toEqual({
      id: phoneNumberId,
      status: 'CONNECTED',
      display_phone_number: `+${phoneNumber}`,
      throughput: { level: 'HIGH' },
    });
  });

  it('has no number of another workspace, and no id that is none', async () => {
    const other = new GraphClient(test, await test.sender());
    for (const id of [client.number, '1', 'constructor', 'x'.repeat(300), '%00']) {
      expect(refusalOf(await other.get(id))).toEqual([400, 100, 'GRAPH_OBJECT_NOT_FOUND']);
    }
    const { body } = await other.get(client.number);
    expect(body.error).toMatchObject({ error_subcode: 33, message: '(#100) Unsupported request' });
    const sent = await other.post(`${client.number}/messages`, { messaging_product: 'whatsapp', to: '1', text: {} });
    expect(refusalOf(sent)).toEqual([400, 100, 'GRAPH_OBJECT_NOT_FOUND']);
  });
});

describe('GET /graph/{version}/{waba_id}/phone_numbers', () => {
  it("lists the account's numbers of the workspace", async () => {
    const { wabaId, organizationId } = client.sender.connection;
    const second = await test.factories.connection({ organizationId, wabaId });
    const stranger = await test.sender();
    await test.database.execute('update connection set waba_id = $2 where id = $1', [stranger.connection.id, wabaId]);
    const { status, body } = await client.get(`${wabaId}/phone_numbers?fields=id`);
    expect([status, body]).toEqual([200, { data: [{ id: client.number }, { id: second.phoneNumberId }] }]);
    expect(refusalOf(await client.get('1/phone_numbers'))).toEqual([400, 100, 'GRAPH_OBJECT_NOT_FOUND']);
  });
});

describe('GET /graph/{version}/{waba_id}/message_templates', () => {
  interface Template {
    name: string;
    language: string;
    status: string;
  }
  const names = (data: unknown): string[] => (data as Template[]).map(({ name, language }) => `${name}/${language}`);

  it('lists templates as the platform does, page by page', async () => {
    const path = `${client.sender.connection.wabaId}/message_templates`;
    const { status, body } = await client.get(`${path}?fields=name,status&limit=1000`);
    expect(status).toBe(200);
    const all = names(body.data);
    expect(all.length).toBeGreaterThan(1);
    expect(body.data?.find(({ name }) => name === 'order_update')).toMatchObject({
      id: expect.stringMatching(/^\d+$/) as string,
      language: 'en_US',
      status: 'APPROVED',
      category: expect.any(String) as string,
      components: expect.arrayContaining([expect.objectContaining({ type: 'BODY' })]) as unknown[],
    });
    expect(body.paging).toEqual({ cursors: expect.any(Object) as object });

    const found: string[] = [];
    let next: string | undefined = `${test.baseUrl}/graph/v26.0/${path}?limit=1&status=APPROVED`;
    while (next !== undefined) {
      const headers = { authorization: `Bearer ${client.sender.key.text}` };
      const page = (await (await fetch(next, { headers })).json()) as typeof body;
      expect(page.data?.length).toBeLessThanOrEqual(1);
      found.push(...names(page.data));
      ({ next } = page.paging ?? {});
    }
    const approved = (body.data as unknown as Template[]).filter((each) => each.status === 'APPROVED');
    expect(found).toEqual(names(approved));
  });

  it('filters by name, language, status and category, and refuses what it can not read', async () => {
    const path = `${client.sender.connection.wabaId}/message_templates`;
    const one = await client.get(`${path}?name=order_update&language=en_US&status=APPROVED&category=UTILITY`);
    expect(names(one.body.data)).toEqual(['order_update/en_US']);
    expect((await client.get(`${path}?name=none_of_them`)).body).toEqual({ data: [] });
    for (const query of ['limit=0', 'limit=x', 'after=x', 'status=APPROVED,PENDING', 'name=a&name=b', 'name=%00']) {
      expect([query, ...refusalOf(await client.get(`${path}?${query}`))]).toEqual([query, 400, 100, 'INVALID_REQUEST']);
    }
    expect(refusalOf(await client.get('1/message_templates'))).toEqual([400, 100, 'GRAPH_OBJECT_NOT_FOUND']);
    expect(refusalOf(await client.get('x/message_templates'))).toEqual([400, 100, 'GRAPH_OBJECT_NOT_FOUND']);
  });
});
