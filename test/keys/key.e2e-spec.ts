import { heraldVersion } from '../../src/common/version.js';
import { otpApp } from '../otp/fixture.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api'] });
});
afterAll(() => test?.stop());

describe('GET /key', () => {
  it('says what the key may do, and nothing of its secret', async () => {
    const { id: organizationId } = await test.factories.workspace({ ratePerSecond: 7, rateBurst: 21 });
    const expiresAt = new Date(Date.now() + 3_600_000);
    const { text } = await test.factories.apiKey({ organizationId, scopes: ['media:read'], expiresAt });
    const { status, body, headers } = await test.api.as(text).get('/key');
    expect({ status, ...body }).toEqual({
      status: 200,
      data: {
        workspace: { id: organizationId, name: expect.any(String) },
        name: expect.any(String),
        scopes: ['media:read'],
        mode: 'live',
        otp_project: null,
        expires_at: expiresAt.toISOString(),
        person: null,
        rate_limit: { per_second: 7, burst: 21 },
        version: heraldVersion(),
      },
    });
    expect(headers.get('ratelimit')).toContain('r=20');
    expect(JSON.stringify(body)).not.toContain(text.split('_').at(-1));
  });

  it.each([
    ['sandbox', 'test'],
    ['live', 'live'],
  ] as const)('a key of an OTP project (%s) names its project', async (mode, keyMode) => {
    const { id: organizationId } = await test.factories.workspace();
    const app = await otpApp(test, mode, { organizationId });
    const { status, body } = await app.api.get('/key');
    expect({ status, ...body.data }).toMatchObject({
      status: 200,
      mode: keyMode,
      otp_project: { id: expect.any(String), name: expect.any(String), mode },
    });
    expect(body.data.scopes).toEqual(expect.arrayContaining(['otp:send']));
  });

  it('needs a valid key', async () => {
    expect((await test.api.get('/key')).status).toBe(401);
  });
});
