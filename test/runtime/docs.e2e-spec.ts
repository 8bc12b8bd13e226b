import { EXAMPLE_CONNECTION_ID, EXAMPLE_IDEMPOTENCY_KEY, EXAMPLE_MESSAGE_ID } from '../../src/common/example-ids.js';
import { ExampleValues } from '../../src/platform/http/example-values.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

let test: TestApp;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api', 'simulator'] });
});

afterAll(() => test.stop());

describe('the served API description', () => {
  it('shows the ids that this installation gives its examples', async () => {
    const examples = test.app.get(ExampleValues, { strict: false });
    examples.replace(EXAMPLE_CONNECTION_ID, 'a-connection-of-ours');
    const { status, body } = await test.api.get<object>('/openapi.json');
    expect(status).toBe(200);
    const text = JSON.stringify(body);
    expect(text).toContain('a-connection-of-ours');
    expect(text).not.toContain(EXAMPLE_CONNECTION_ID);
    expect(text).toContain(EXAMPLE_MESSAGE_ID);
  });

  it('lets every execution of an example have a key of its own', async () => {
    const { body } = await test.api.get<string>('/docs/swagger-ui-init.js');
    const source = /"requestInterceptor": (function [\s\S]+?\n\s*\})/.exec(body)?.[1] ?? '';
    // oxlint-disable-next-line no-new-func, typescript/no-implied-eval
    const intercept = new Function(`return ${source}`)() as (request: { headers: Record<string, string> }) => {
      headers: Record<string, string>;
    };
    const changed = intercept({ headers: { 'Idempotency-Key': EXAMPLE_IDEMPOTENCY_KEY } });
    expect(changed.headers['Idempotency-Key']).toMatch(/^[0-9a-f-]{36}$/);
    expect(changed.headers['Idempotency-Key']).not.toBe(EXAMPLE_IDEMPOTENCY_KEY);
    expect(intercept({ headers: { 'Idempotency-Key': 'mine' } }).headers['Idempotency-Key']).toBe('mine');
  });

  it('remembers the key that was authorized', async () => {
    const { body } = await test.api.get<string>('/docs/swagger-ui-init.js');
    expect(body).toMatch(/"persistAuthorization": true/);
  });
});
