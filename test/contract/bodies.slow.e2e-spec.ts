import { rawRequest, request } from './raw-http.js';
import { startSmallApp, type SmallApp } from './small-app.js';
import { ThingsController } from './things.controller.js';

let small: SmallApp;

beforeAll(async () => {
  small = await startSmallApp({ controllers: [ThingsController] });
});

afterAll(() => small.close());

describe('a body that never ends', () => {
  it('is given up', async () => {
    const { id } = await small.factories.workspace();
    const key = (await small.factories.apiKey({ organizationId: id })).text;
    const lines = [`Authorization: Bearer ${key}`, 'Content-Type: application/json', 'Content-Length: 100'];
    const kept = request('POST /api/v1/things HTTP/1.1', lines, '{"a":').replace('Connection: close', 'Accept: */*');
    const answer = await rawRequest(small.port, kept, 20_000);
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.body).error.details[0].rule).toBe('timeout');
    expect(answer.headers.connection).toBe('close');
    expect(answer.isClosed).toBe(true);
  });
});
