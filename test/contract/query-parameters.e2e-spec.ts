import { newId } from '../../src/common/ids.js';
import { sendingWorkspace } from '../messages/fixture.js';
import { otpApp } from '../otp/fixture.js';
import type { ApiClient } from '../support/api-client.js';
import { readProjectFile } from '../support/project-files.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

interface Operation {
  parameters?: { name: string; in: string }[];
}

const { paths } = JSON.parse(readProjectFile('openapi.json')) as { paths: Record<string, Record<string, Operation>> };
const OPERATIONS = Object.entries(paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({
    method: method.toUpperCase(),
    path,
    known: (operation.parameters ?? []).filter((parameter) => parameter.in === 'query').map(({ name }) => name),
  })),
);

let test: TestApp;
let workspace: ApiClient;
let otp: ApiClient;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api', 'simulator'] });
  workspace = (await sendingWorkspace(test)).api;
  otp = (await otpApp(test, 'sandbox')).api;
});

afterAll(() => test.stop());

describe('query parameters', () => {
  it.each(OPERATIONS)(
    'that $method $path does not know are refused, naming the known',
    async ({ method, path, known }) => {
      const api = /\/otp\/|\/usage\/codes$/.test(path) ? otp : workspace;
      const { status, body } = await api.request({
        method,
        path: `${path.replaceAll(/\{\w+\}/g, newId())}?surprise=1`,
      });
      expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
      const [detail] = body.error.details ?? [];
      expect(detail).toMatchObject({ field: 'surprise', rule: 'unknown_field' });
      const allowed = /allowed: (.*)\.$/.exec(detail?.message ?? '')?.[1] ?? 'none';
      expect(allowed.split(', ').sort()).toEqual((known.length === 0 ? ['none'] : known).sort());
    },
  );

  it.each([
    'to=%FF',
    '%ff=1',
    'limit=5&client_message_id=a%C3',
    'client_message_id=%ED%A0%80',
    'client_message_id=%c0%af',
  ])('that are no UTF-8 are refused: %s', async (query) => {
    const { status, body } = await workspace.get(`/messages?${query}`);
    expect([status, body.error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(body.error.details).toMatchObject([
      { rule: 'query', message: expect.stringContaining('not correctly percent-encoded') },
    ]);
  });

  it.each(['%C3%A9', '%EF%BF%BD', '%F0%9F%98%80', '100%', '%zz', 'a+b'])('may hold %s', async (text) => {
    expect((await workspace.get(`/messages?client_message_id=${text}`)).status).toBe(200);
  });

  it.each(['/health/live', '/health/ready', '/platform/whatsapp/webhook'])('may be any at %s', async (path) => {
    expect((await workspace.get(`${path}?surprise=1`)).status).not.toBe(400);
  });

  it('do not keep a notification of the platform from being looked at', async () => {
    const answer = await workspace.post('/platform/whatsapp/webhook?surprise=1', {});
    expect([answer.status, answer.body.error.code]).toEqual([401, 'NOTIFICATION_SIGNATURE_INVALID']);
  });
});
