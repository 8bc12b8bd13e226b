import { newId } from '../../src/common/ids.js';
import * as sample from '../media/samples.js';
import { SimulatorClient } from '../support/simulator/simulator-client.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';

const APP = '670843887433847';
const BODY = { type: 'BODY', text: 'Look at this.' };

let number = 0;
const newName = (): string => `shown_${++number}`;

function suite(env: Record<string, string>) {
  const stage = {} as { test: TestApp; sender: TestSender; simulator: SimulatorClient; path: string };
  beforeAll(async () => {
    stage.test = await startTestApp({
      roles: ['api', 'simulator'],
      env,
      simulator: { templateCreationsPerHour: 1_000 },
    });
    stage.sender = await stage.test.sender();
    const { id, phoneNumberId } = stage.sender.connection;
    stage.simulator = new SimulatorClient(stage.test.simulatorUrl ?? '', phoneNumberId);
    stage.path = `/connections/${id}/templates`;
  });
  afterAll(() => stage.test?.stop());
  return stage;
}

async function uploaded({ test, sender }: ReturnType<typeof suite>, bytes: Uint8Array, name: string): Promise<string> {
  const form = new FormData();
  form.set('connection_id', sender.connection.id);
  form.set('file', new Blob([new Uint8Array(bytes)]), name);
  const headers = { authorization: `Bearer ${sender.key.text}` };
  const answer = await fetch(`${test.baseUrl}/api/v1/media`, { method: 'POST', headers, body: form });
  const { data } = (await answer.json()) as { data: { id: string } };
  return data.id;
}

const header = (format: string, example: object) => ({ type: 'HEADER', format, example });
const draft = (components: object[]) => ({ name: newName(), language: 'en_US', category: 'MARKETING', components });

describe('a template whose sample is a file of ours', () => {
  const stage = suite({ META_APP_ID: APP });
  const make = (components: object[]) => stage.sender.api.post(stage.path, draft(components));
  const headersAt = async (name: string): Promise<string[]> => {
    const { wabaId } = stage.sender.connection;
    const { json } = await stage.simulator.call('GET', `/v26.0/${wabaId}/message_templates?name=${name}`);
    const [{ components = [] } = {}] = json.data as { components?: Record<string, unknown>[] }[];
    return JSON.stringify(components).match(/"header_handle":\["[^"]+/g) ?? [];
  };

  it.each([
    ['IMAGE', () => sample.png(), 'menu.png'],
    ['DOCUMENT', () => sample.pdf(), 'menu.pdf'],
    ['VIDEO', () => sample.isoMedia({}), 'menu.mp4'],
  ])('with a header of format %s is handed in with the handle that WhatsApp wants', async (format, bytes, name) => {
    const id = await uploaded(stage, bytes(), name);
    const made = await make([header(format, { media_object_id: id }), BODY]);
    expect([made.status, made.body.error]).toEqual([201, undefined]);
    expect(await headersAt(made.body.data.name)).toHaveLength(1);
    expect(made.body.data.header_media).toEqual({ type: format.toLowerCase() });
    expect(JSON.stringify(made.body.data.components)).not.toContain(id);
    expect(made.body.data.components[0].example.header_handle[0]).toMatch(/^4::/);
  });

  it('with cards, each of which has one, uploads a file that several name once', async () => {
    const [first, second] = [
      await uploaded(stage, sample.png(), 'a.png'),
      await uploaded(stage, sample.jpeg(), 'b.jpg'),
    ];
    const card = (id: string) => ({
      components: [
        header('image', { media_object_id: id.toUpperCase() }),
        { type: 'BODY', text: 'A card.' },
        { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'More' }] },
      ],
    });
    const cards = [first, second, first].map(card);
    const made = await make([BODY, { type: 'CAROUSEL', cards }]);
    expect([made.status, made.body.error]).toEqual([201, undefined]);
    const handles = await headersAt(made.body.data.name);
    expect(handles).toHaveLength(3);
    const sent = made.body.data.components[1].cards.map(
      (each: { components: { example: { header_handle: string[] } }[] }) =>
        each.components[0]?.example.header_handle[0],
    );
    expect(sent[0]).toBe(sent[2]);
    expect(sent[0]).not.toBe(sent[1]);
  });

  it('can get another file with PATCH', async () => {
    const id = await uploaded(stage, sample.png(), 'a.png');
    const { body } = await make([BODY]);
    const { name } = body.data;
    await stage.simulator.control('POST', `templates/${await platformIdOf(name)}/review`, { event: 'APPROVED' });
    const components = [header('IMAGE', { media_object_id: id }), BODY];
    const changed = await stage.sender.api.request({
      method: 'PATCH',
      path: `${stage.path}/${name}`,
      body: { language: 'en_US', components },
    });
    expect([changed.status, changed.body.error]).toEqual([200, undefined]);
    expect(await headersAt(name)).toHaveLength(1);
  });

  const platformIdOf = async (name: string): Promise<string> => {
    const { wabaId } = stage.sender.connection;
    const { json } = await stage.simulator.call('GET', `/v26.0/${wabaId}/message_templates?name=${name}`);
    return (json.data as { id: string }[])[0]?.id ?? '';
  };

  it('is refused where the file is of another type, or none of the workspace, and nothing is made', async () => {
    const id = await uploaded(stage, sample.png(), 'a.png');
    const stranger = { ...stage, sender: await stage.test.sender() };
    const foreign = await uploaded(stranger, sample.png(), 'a.png');
    for (const [format, file, code] of [
      ['VIDEO', id, 'MEDIA_TYPE_MISMATCH'],
      ['IMAGE', foreign, 'MEDIA_NOT_FOUND'],
      ['IMAGE', newId(), 'MEDIA_NOT_FOUND'],
    ] as const) {
      const body = draft([header(format, { media_object_id: file }), BODY]);
      const refused = await stage.sender.api.post(stage.path, body);
      expect([refused.status, refused.body.error.code]).toEqual([422, code]);
      expect(await headersAt(body.name)).toEqual([]);
    }
  });

  it('is refused with the words of WhatsApp where it takes no such file', async () => {
    const text = await uploaded(stage, Buffer.from('Soup, bread, coffee\n'), 'menu.txt');
    const refused = await make([header('DOCUMENT', { media_object_id: text }), BODY]);
    expect([refused.status, refused.body.error.code]).toEqual([400, 'PLATFORM_REJECTED']);
  });

  it.each([
    [{ media_object_id: 'a.png' }, 'media_object_id'],
    [{ media_object_id: 7 }, 'media_object_id'],
    [{ media_object_id: newId(), header_handle: ['4::x'] }, 'media_object_id'],
    [{}, 'header_handle'],
  ])('is refused with the example %j', async (example, field) => {
    const { status, body } = await make([header('IMAGE', example), BODY]);
    expect([status, body.error.details?.[0]?.field]).toEqual([400, `components[0].example.${field}`]);
  });
});

describe('without META_APP_ID', () => {
  const stage = suite({});

  it('the simulator takes a file; on WhatsApp itself the refusal names the setting, and a handle is taken', async () => {
    const id = await uploaded(stage, sample.png(), 'a.png');
    const withFile = () => draft([header('IMAGE', { media_object_id: id }), BODY]);
    expect((await stage.sender.api.post(stage.path, withFile())).status).toBe(201);
    stage.test.config.whatsapp.appId = null;
    const refused = await stage.sender.api.post(stage.path, withFile());
    expect([refused.status, refused.body.error.code]).toEqual([409, 'META_APP_ID_MISSING']);
    expect(refused.body.error.message).toContain('META_APP_ID');
    const made = await stage.sender.api.post(stage.path, draft([header('IMAGE', { header_handle: ['4::x'] }), BODY]));
    expect(made.status).toBe(201);
  });
});
