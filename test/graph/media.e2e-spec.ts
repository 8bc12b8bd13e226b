import { png, ogg } from '../media/samples.js';
import { addPending, pending } from '../media/fixture.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { GraphClient, refusalOf } from './fixture.js';

let test: TestApp;
let client: GraphClient;

beforeAll(async () => {
  test = await startTestApp({ env: { MEDIA_MIN_FREE_MIB: '0' }, simulator: { statusGapMs: 20 } });
  client = new GraphClient(test, await test.sender());
});

afterAll(() => test?.stop());

const PRODUCT = { messaging_product: 'whatsapp' };

async function uploaded(file = png()): Promise<string> {
  const { status, body } = await client.upload(file, PRODUCT);
  expect([status, body]).toEqual([200, { id: expect.stringMatching(/^[0-9a-f-]{36}$/) as string }]);
  return body.id ?? '';
}

describe('media', () => {
  it('is uploaded as the platform takes it, described, downloaded with the key, sent and deleted', async () => {
    const file = png();
    const { body: made } = await client.upload(file, { ...PRODUCT, type: 'image/png' }, 'application/octet-stream');
    const { status, body } = await client.get(made.id ?? '');
    expect([status, body]).toEqual([
      200,
      {
        messaging_product: 'whatsapp',
        url: expect.stringContaining(made.id ?? '') as string,
        mime_type: 'image/png',
        sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        file_size: file.length,
        id: made.id,
      },
    ]);
    const headers = { authorization: `Bearer ${client.sender.key.text}` };
    const bytes = await fetch(body.url ?? '', { headers });
    expect(bytes.headers.get('content-type')).toBe('image/png');
    expect(Buffer.from(await bytes.arrayBuffer())).toEqual(file);

    const to = await client.contact();
    await client.reaches(await client.taken({ to, type: 'image', image: { id: made.id, caption: 'Look' } }), 'read');
    expect(client.takenBy(to)).toMatchObject({
      image: { id: expect.stringMatching(/^\d+$/) as string, caption: 'Look' },
    });

    expect((await client.delete(made.id ?? '')).body).toEqual({ success: true });
    expect(refusalOf(await client.get(made.id ?? ''))).toEqual([400, 100, 'MEDIA_NOT_FOUND']);
    const gone = await client.send({ to, type: 'image', image: { id: made.id } });
    expect(refusalOf(gone)).toEqual([400, 131009, 'MEDIA_NOT_FOUND']);
  });

  it('takes an id in the header of interactive messages, and refuses a file of another type', async () => {
    const id = await uploaded();
    const to = await client.contact();
    const header = { type: 'image', image: { id } };
    const action = { buttons: [{ type: 'reply', reply: { id: 'yes', title: 'Yes' } }] };
    const interactive = { type: 'button', header, body: { text: 'Well?' }, action };
    await client.reaches(await client.taken({ to, type: 'interactive', interactive }), 'read');
    const sent = await client.send({ to, type: 'video', video: { id } });
    expect(refusalOf(sent)).toEqual([400, 131053, 'MEDIA_TYPE_MISMATCH']);
  });

  it('trusts the bytes: what the field type or the part says must agree', async () => {
    for (const [type, part] of [
      ['image/jpeg', 'image/png'],
      ['audio/ogg', ''],
    ] as const) {
      const refused = await client.upload(png(), { ...PRODUCT, type }, part);
      expect(refusalOf(refused)).toEqual([400, 100, 'MEDIA_TYPE_NOT_SUPPORTED']);
      expect(refused.body.error?.error_data.details).toContain(type);
    }
    const voice = await client.upload(ogg(), { ...PRODUCT, type: 'audio/ogg; codecs=opus' });
    expect((await client.get(voice.body.id ?? '')).body).toMatchObject({ mime_type: 'audio/ogg; codecs=opus' });
  });

  it('takes the product in the query too', async () => {
    const form = formOf({});
    form.append('file', new Blob([new Uint8Array(png())], { type: 'image/png' }), 'a.png');
    for (const [product, status] of [
      ['whatsapp', 200],
      ['sms', 400],
    ] as const) {
      const answer = await fetch(`${test.baseUrl}/graph/v26.0/${client.number}/media?messaging_product=${product}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${client.sender.key.text}` },
        body: form,
      });
      expect(answer.status).toBe(status);
    }
  });

  it('refuses another product, a form without a file, a field that is not known and JSON', async () => {
    expect(refusalOf(await client.upload(png(), { messaging_product: 'sms' }))).toEqual([400, 100, 'INVALID_REQUEST']);
    expect(refusalOf(await client.upload(png(), { ...PRODUCT, ttl: '1' }))).toEqual([400, 100, 'INVALID_REQUEST']);
    const json = await client.post(`${client.number}/media`, { file: 'x' });
    expect(refusalOf(json)).toEqual([400, 100, 'UNSUPPORTED_CONTENT_TYPE']);
    const empty = await fetch(`${test.baseUrl}/graph/v26.0/${client.number}/media`, {
      method: 'POST',
      headers: { authorization: `Bearer ${client.sender.key.text}` },
      body: formOf(PRODUCT),
    });
    expect(await empty.json()).toMatchObject({
      error: { code: 131008, error_data: { details: expect.stringContaining('file') as string } },
    });
  });

  it('belongs to one workspace, and to the number where it is named', async () => {
    const id = await uploaded();
    expect((await client.get(`${id}?phone_number_id=${client.number}`)).status).toBe(200);
    const other = new GraphClient(test, await test.sender());
    for (const answer of [await other.get(id), await other.delete(id)]) {
      expect(refusalOf(answer)).toEqual([400, 100, 'MEDIA_NOT_FOUND']);
    }
    const { organizationId } = client.sender.connection;
    const second = await test.factories.connection({ organizationId });
    const wrong = await client.delete(`${id}?phone_number_id=${second.phoneNumberId}`);
    expect(refusalOf(wrong)).toEqual([400, 100, 'GRAPH_OBJECT_NOT_FOUND']);
    expect((await client.delete(`${id}?phone_number_id=${client.number}`)).body).toEqual({ success: true });
  });

  it('that a customer sent and that is not fetched yet is to be asked for again', async () => {
    const file = pending(client.sender);
    await addPending(test, [file]);
    const answer = await client.get(file.id);
    expect(refusalOf(answer)).toEqual([503, 131016, 'MEDIA_PENDING']);
    expect(answer.body.error?.is_transient).toBe(true);
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0);
  });
});

function formOf(fields: Record<string, string>): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields)) form.append(name, value);
  return form;
}
