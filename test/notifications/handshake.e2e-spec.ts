import { startTestApp, type TestApp } from '../support/test-app.js';
import { WEBHOOK } from './fixture.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'], env: { WHATSAPP_VERIFY_TOKEN: 'the-verify-token' } });
});

afterAll(() => test.stop());

function handshake(query: Record<string, string>) {
  return test.api.get<string>(`${WEBHOOK}?${new URLSearchParams(query).toString()}`);
}

const GOOD = { 'hub.mode': 'subscribe', 'hub.verify_token': 'the-verify-token', 'hub.challenge': '1158201444' };

describe('GET /platform/whatsapp/webhook', () => {
  it('answers the challenge as it came, as plain text', async () => {
    const response = await handshake(GOOD);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(response.body).toBe('1158201444');
  });

  it('answers a challenge that is markup as text that no browser takes for a page', async () => {
    const response = await handshake({ ...GOOD, 'hub.challenge': '<script>alert(1)</script>' });
    expect(response.body).toBe('<script>alert(1)</script>');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  });

  it.each([
    ['another token', { ...GOOD, 'hub.verify_token': 'the-verify-tokem' }],
    ['an empty token', { ...GOOD, 'hub.verify_token': '' }],
    ['another mode', { ...GOOD, 'hub.mode': 'unsubscribe' }],
    ['nothing at all', {}],
    ['no challenge', { 'hub.mode': 'subscribe', 'hub.verify_token': 'the-verify-token' }],
  ])('refuses %s with 403', async (_name, query) => {
    expect((await handshake(query)).status).toBe(403);
  });

  it('refuses a token that is given twice', async () => {
    const query = `hub.mode=subscribe&hub.challenge=1&hub.verify_token=the-verify-token&hub.verify_token=other`;
    expect((await test.api.get(`${WEBHOOK}?${query}`)).status).toBe(403);
  });
});
