import { startTestApp, type TestApp } from '../support/test-app.js';
import { subscriber } from './fixture.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
});
afterAll(() => test?.stop());

describe('PUT /webhook as in production', () => {
  it.each([
    ['http://hooks.example.com/', 'not_https'],
    ['ftp://hooks.example.com/', 'not_https'],
    ['https://hooks.example.com:8443/', 'port'],
    ['https://me:secret@hooks.example.com/', 'credentials_in_url'],
    ['https://127.0.0.1/', 'private_address'],
    ['https://[::1]/', 'private_address'],
    ['https://2130706433/', 'private_address'],
    ['https://localhost/', 'private_address'],
  ])('refuses %s: %s', async (url, reason) => {
    const { api } = await subscriber(test);
    const response = await api.request({ method: 'PUT', path: '/webhook', body: { url } });
    expect(response.status).toBe(400);
    expect(response.body.error).toMatchObject({ code: 'WEBHOOK_URL_NOT_ALLOWED', reason });
    expect(response.body.error.message).toMatch(/^[A-Z].*\.$/);
    expect((await api.get('/webhook')).status).toBe(404);
  });
});
