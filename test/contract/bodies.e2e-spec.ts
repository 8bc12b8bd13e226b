import { rawRequest, request } from './raw-http.js';
import { startSmallApp, type SmallApp } from './small-app.js';
import { ThingsController } from './things.controller.js';

const UUID = '01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e';
const LIMIT = 256 * 1_024;

let small: SmallApp;
let key: string;

beforeAll(async () => {
  small = await startSmallApp({ controllers: [ThingsController] });
  const workspace = await small.factories.workspace({ ratePerSecond: 100_000, rateBurst: 100_000 });
  key = (await small.factories.apiKey({ organizationId: workspace.id })).text;
});

afterAll(() => small.close());

function echo(body: string | Uint8Array, headers: Record<string, string> = {}) {
  return small.api.post('/things/echo', body, { key, headers });
}

function retry(body?: unknown, headers: Record<string, string> = {}) {
  return small.api.post(`/things/${UUID}/retry`, body, { key, headers });
}

async function violationOf(answer: ReturnType<typeof echo>) {
  const { status, body } = await answer;
  const detail = body.error.details?.[0];
  return `${status} ${body.error.code} ${detail?.rule ?? ''} ${detail?.field ?? ''}`.trimEnd();
}

describe('JSON bodies', () => {
  it.each([
    '{"a":1}',
    '[1,2]',
    '"text"',
    'null',
    '0',
    ' {"a" : "é😀\\n"} ',
    '\uFEFF{"a":1}',
    `{"a":"${'x'.repeat(200_000)}"}`,
  ])('%.40s arrives as it was sent', async (text) => {
    const { status, body } = await echo(text);
    expect(status).toBe(201);
    expect(body.data).toEqual(JSON.parse(text.replace(/^\uFEFF/, '')));
  });

  it.each([
    'application/json',
    'application/json; charset=utf-8',
    'Application/JSON;charset="UTF-8"',
    'application/json ; charset=utf8',
    'application/json; x=1',
  ])('are taken as %s', async (type) => {
    expect((await echo('{}', { 'content-type': type })).status).toBe(201);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/jsonp',
    'application/problem+json',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'multipart/form-data; boundary=x',
    '',
  ])('are refused as %j with 415', async (type) => {
    const { status, body } = await echo('{}', { 'content-type': type });
    expect(status).toBe(415);
    expect(body.error.expected).toBe('application/json');
  });

  it('are refused without a Content-Type', async () => {
    const lines = [`Authorization: Bearer ${key}`, 'Content-Length: 2'];
    const { status } = await rawRequest(small.port, request('POST /api/v1/things/echo HTTP/1.1', lines, '{}'));
    expect(status).toBe(415);
  });

  it.each(['gzip', 'br', 'deflate', 'x'])('are refused as %s with 415, naming the encoding', async (encoding) => {
    const { status, body } = await echo('{}', { 'content-encoding': encoding });
    expect(status).toBe(415);
    expect(body.error.message).toBe(
      `Content-Encoding ${encoding} is not supported; send the body uncompressed, as application/json.`,
    );
  });

  it.each([
    ['{', '400 INVALID_REQUEST json'],
    ['{"a":1,}', '400 INVALID_REQUEST json'],
    ["{'a':1}", '400 INVALID_REQUEST json'],
    ['{"a":1} x', '400 INVALID_REQUEST json'],
    ['{"a":"\u0000"}', '400 INVALID_REQUEST json'],
    ['NaN', '400 INVALID_REQUEST json'],
    [Buffer.from([0x22, 0xff, 0x22]), '400 INVALID_REQUEST encoding'],
    [Buffer.from([0x22, 0xed, 0xa0, 0x80, 0x22]), '400 INVALID_REQUEST encoding'],
  ])('that cannot be read are 400 (%s)', async (text, violation) => {
    expect(await violationOf(echo(text))).toBe(violation);
  });

  it('say where they cannot be read, and never quote the body', async () => {
    const { body } = await echo('{\n  "secret": hunter2\n}');
    expect(body.error.message).toBe('The body is not valid JSON: look at line 2, column 13.');
    expect(JSON.stringify((await echo('{"secret": "hunter2"')).body)).not.toContain('hunter2');
  });

  it.each([
    ['{"a":["\\u0000"]}', '422 VALIDATION_FAILED text a[0]'],
    ['{"a":{"b":"\\ud800"}}', '422 VALIDATION_FAILED text a.b'],
    ['{"__proto__":{"admin":true}}', '422 VALIDATION_FAILED forbidden_key __proto__'],
    ['{"a":{"constructor":1}}', '422 VALIDATION_FAILED forbidden_key a.constructor'],
  ])('%s is refused by name, with 422 where the route says so', async (text, violation) => {
    expect(await violationOf(echo(text))).toBe(violation);
  });

  it('are refused with 400 where it does not', async () => {
    expect(await violationOf(retry('{"confirm":"\\u0000"}'))).toBe('400 INVALID_REQUEST text confirm');
  });

  it('too deep or with too many keys are refused', async () => {
    const deep = `${'['.repeat(33)}${']'.repeat(33)}`;
    expect(await violationOf(echo(deep))).toMatch(/^422 VALIDATION_FAILED depth/);
    expect((await echo(deep.slice(1, -1))).status).toBe(201);
    const wide = JSON.stringify(Object.fromEntries(Array.from({ length: 1_001 }, (_, i) => [`k${i}`, i])));
    expect(await violationOf(echo(wide))).toBe('422 VALIDATION_FAILED keys');
    expect(await violationOf(echo(`${'['.repeat(100_000)}${']'.repeat(100_000)}`))).toMatch(
      /^422 VALIDATION_FAILED depth/,
    );
  });

  it('of 256 KiB are taken, one byte more is 413, with and without Content-Length', async () => {
    const fits = `"${'x'.repeat(LIMIT - 2)}"`;
    expect((await echo(fits)).status).toBe(201);
    expect((await echo(`${fits} `)).status).toBe(413);
    const chunked = (size: number) =>
      request(
        'POST /api/v1/things/echo HTTP/1.1',
        [`Authorization: Bearer ${key}`, 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
        `${size.toString(16)}\r\n"${'x'.repeat(size - 2)}"\r\n0\r\n\r\n`,
      );
    expect((await rawRequest(small.port, chunked(LIMIT))).status).toBe(201);
    expect((await rawRequest(small.port, chunked(LIMIT + 1))).status).toBe(413);
  });

  it('that are cut into pieces arrive whole', async () => {
    const pieces = ['{"a":', '"', 'x'.repeat(70_000), '"}'].map(
      (piece) => `${piece.length.toString(16)}\r\n${piece}\r\n`,
    );
    const lines = [`Authorization: Bearer ${key}`, 'Content-Type: application/json', 'Transfer-Encoding: chunked'];
    const text = request('POST /api/v1/things/echo HTTP/1.1', lines, `${pieces.join('')}0\r\n\r\n`);
    expect((await rawRequest(small.port, text)).status).toBe(201);
  });
});

describe('a body that may be left out', () => {
  it('may be empty, with or without a Content-Type', async () => {
    expect((await retry()).body.data).toEqual({ id: UUID, confirm: false });
    expect((await retry('', { 'content-type': 'application/json' })).body.data.confirm).toBe(false);
    expect((await retry('{}')).status).toBe(202);
  });

  it('is checked where it is there', async () => {
    expect((await retry({ confirm: true })).body.data.confirm).toBe(true);
    expect(await violationOf(retry({ confirm: 'true' }))).toBe('400 INVALID_REQUEST type confirm');
    expect(await violationOf(retry({ confirmed: true }))).toBe('400 INVALID_REQUEST unknown_field confirmed');
    expect(await violationOf(retry('[]'))).toBe('400 INVALID_REQUEST type');
    expect(await violationOf(retry('"x"'))).toBe('400 INVALID_REQUEST type');
  });
});

describe('a POST that takes no body', () => {
  const touch = (body?: unknown, headers: Record<string, string> = {}) =>
    small.api.post(`/things/${UUID}/touch`, body, { key, headers });

  it('may have an empty one, or an empty object', async () => {
    expect((await touch()).body.data).toEqual({ id: UUID });
    expect((await touch('', { 'content-type': 'application/json' })).status).toBe(202);
    expect((await touch('', { 'content-type': 'text/plain' })).status).toBe(202);
    expect((await touch(' {} ')).status).toBe(202);
  });

  it('refuses what it can not read, and what it would ignore', async () => {
    expect(await violationOf(touch('{'))).toBe('400 INVALID_REQUEST json');
    expect(await violationOf(touch('[]'))).toBe('400 INVALID_REQUEST type');
    expect(await violationOf(touch('null'))).toBe('400 INVALID_REQUEST type');
    expect(await violationOf(touch({ url: 'x' }))).toBe('400 INVALID_REQUEST unknown_field url');
    expect(await violationOf(touch('a=b', { 'content-type': 'application/x-www-form-urlencoded' }))).toBe(
      '415 UNSUPPORTED_CONTENT_TYPE',
    );
    expect((await touch(' '.repeat(LIMIT + 1))).status).toBe(413);
  });

  it('is what a DELETE is not: its body means nothing', async () => {
    expect((await small.api.request({ method: 'DELETE', path: `/things/${UUID}`, body: '{', key })).status).toBe(204);
  });
});

describe('types in bodies', () => {
  it.each([
    [{ connection_id: UUID, text: { body: 5 } }, 'type text.body'],
    [{ connection_id: UUID, text: { body: 'x', preview_url: 'true' } }, 'type text.preview_url'],
    [{ connection_id: UUID, text: 'x' }, 'type text'],
    [{ connection_id: UUID, text: { body: 'x' }, ttl: '60' }, 'type ttl'],
    [{ connection_id: UUID, text: { body: 'x' }, items: {} }, 'type items'],
    [{ connection_id: UUID, text: { body: 'x' }, items: [{}] }, 'required items[0].type'],
    [
      { connection_id: UUID, text: { body: 'x' }, items: [{ type: 'BODY' }, { type: 'BODY' }, { type: 'BODY' }] },
      'length items',
    ],
    [{ connection_id: UUID }, 'required text'],
  ])('are never bent: %j', async (body, violation) => {
    const { status, body: answer } = await small.api.post('/things', body, { key });
    expect(status).toBe(400);
    expect(answer.error.details?.map(({ field, rule }) => `${rule} ${field}`)).toEqual([violation]);
  });
});

describe('bodies of unauthenticated requests', () => {
  it('are not read: 401 comes while the body is still on its way', async () => {
    const lines = ['Content-Type: application/json', 'Content-Length: 1000000'];
    const answer = await rawRequest(small.port, request('POST /api/v1/things HTTP/1.1', lines, '{"half'), 20_000);
    // A body that is read is waited for, and the answer is then 400.
    expect(answer).toMatchObject({ status: 401, isClosed: true });
  });

  it('that go on and on are cut off', async () => {
    const lines = ['Content-Type: application/json', 'Content-Length: 50000000'];
    const text = request('POST /api/v1/things HTTP/1.1', lines, 'x'.repeat(10_000_000));
    const answer = await rawRequest(small.port, text, 20_000);
    expect(answer.isClosed).toBe(true);
    // No answer where the connection was reset; 400 where the body was waited for.
    expect([401, 0]).toContain(answer.status);
  });

  it('answer an unauthenticated broken body with 401, not with what is wrong in it', async () => {
    expect((await small.api.post('/things', '{', { headers: { 'content-type': 'text/x' } })).status).toBe(401);
  });
});
