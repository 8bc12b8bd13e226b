import { connectionAtSimulator } from '../messages/fixture.js';
import { testPhone } from '../support/factories.js';
import { readProjectFile } from '../support/project-files.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

interface Row {
  type: string;
  what: string;
  body: string | null;
  content: Record<string, unknown>;
}

/** The rows of the table of docs/support-chat.md. */
function rows(): Row[] {
  const [, table = ''] = readProjectFile('docs/support-chat.md').split('<!-- inbound contents -->');
  const lines = (table.split('\n\n')[1] ?? '').split('\n').slice(2);
  return lines.map((line) => {
    const [, type = '', what = '', body = '', content = ''] = line.split('|').map((cell) => cell.trim());
    const object = JSON.parse(content.slice(1, -1)) as Record<string, unknown>;
    const text = body === 'null' ? null : body === 'the caption' ? String(object.caption) : body.slice(1, -1);
    return { type: type.slice(1, -1), what, body: text, content: object };
  });
}

/** What the platform says of a file. */
const OF_FILES = ['id', 'sha256', 'sha256_hex', 'mime_type', 'filename'];
/** Their content stands under another name than the type's, as a list. */
const LISTS = ['contacts', 'unsupported'];

describe('the table of what customers send', () => {
  let test: TestApp;
  beforeAll(async () => {
    test = await startTestApp();
  });
  afterAll(() => test?.stop());

  it('has every type once, interactive with each of its answers', () => {
    const types = rows().map(({ type, content }) => (type === 'interactive' ? String(content.type) : type));
    expect(types).toHaveLength(18);
    expect(new Set(types).size).toBe(types.length);
  });

  it.each(rows().map((row) => [row.type, row.what, row] as const))('%s: %s', async (type, _what, row) => {
    const { id: organizationId } = await test.factories.workspace();
    const api = test.api.as((await test.factories.apiKey({ organizationId })).text);
    const connection = await connectionAtSimulator(test, organizationId);
    const isFile = 'sha256' in row.content;
    const own = Object.fromEntries(Object.entries(row.content).filter(([name]) => !isFile || !OF_FILES.includes(name)));
    const message = { type, ...(LISTS.includes(type) ? own : { [type]: own }) };
    const response = await fetch(`${test.simulatorUrl}/_simulator/inbound`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ phone_number_id: connection.phoneNumberId, from: testPhone(), message }),
    });
    expect({ status: response.status, text: await response.text() }).toMatchObject({ status: 200 });
    const id = await waitFor(async () => (await api.get('/messages')).body.data[0]?.id as string | undefined);
    const { data } = (await api.get(`/messages/${id}`)).body;
    const content = data.content as Record<string, unknown>;
    expect({ type: data.type as string, body: data.body as string | null }).toEqual({ type, body: row.body });
    expect(Object.keys(content).sort()).toEqual(Object.keys(row.content).sort());
    expect(content).toMatchObject(own);
    expect(data.media_object_id === null).toBe(!isFile);
  });
});
