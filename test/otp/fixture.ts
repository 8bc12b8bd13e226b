import { randomUUID } from 'node:crypto';
import { OtpPackagesService } from '../../src/modules/billing/otp-packages.service.js';
import { OtpProjectsService } from '../../src/modules/otp/otp-projects.service.js';
import { OtpSenderService } from '../../src/modules/otp/otp-sender.service.js';
import type { OtpProject } from '../../src/modules/otp/otp.types.js';
import { ApiKeysService } from '../../src/modules/keys/keys.service.js';
import type { ApiClient, ApiResponse } from '../support/api-client.js';
import { SimulatorClient } from '../support/simulator/simulator-client.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';

export const TEMPLATE = 'login_code';

/** A project with a key of its own, and what its application does. */
export interface OtpApp {
  project: OtpProject;
  key: string;
  api: ApiClient;
  /** POST /otp/send; a fresh Idempotency-Key unless one is given. */
  send(to: string, options?: { key?: string; ttl?: number }): Promise<ApiResponse>;
  verify(id: string, code: string): Promise<ApiResponse>;
  challenge(id: string): Promise<ApiResponse['body']['data']>;
  reaches(id: string, ...statuses: string[]): Promise<ApiResponse['body']['data']>;
}

export async function otpApp(
  test: TestApp,
  mode: 'sandbox' | 'live',
  options: { organizationId?: string; packages?: Record<string, number>; allowedCountries?: string[] } = {},
): Promise<OtpApp> {
  const organizationId =
    options.organizationId ?? (await test.factories.workspace({ ratePerSecond: 100_000, rateBurst: 100_000 })).id;
  const project = await test.app
    .get(OtpProjectsService)
    .create({ organizationId, name: 'Shop', mode, allowedCountries: options.allowedCountries });
  for (const [country, limit] of Object.entries(options.packages ?? {})) {
    await test.app.get(OtpPackagesService).grant(organizationId, project.id, country, limit);
  }
  const { key } = await test.app.get(ApiKeysService).create({
    organizationId,
    name: 'Shop key',
    scopes: ['otp:send', 'otp:verify', 'otp:read'],
    otpProject: project,
  });
  const api = test.api.as(key);
  const app: OtpApp = {
    project,
    key,
    api,
    send: (to, { key: idempotencyKey = randomUUID(), ttl } = {}) =>
      api.post(
        '/otp/send',
        { to, ...(ttl !== undefined && { ttl }) },
        { headers: { 'idempotency-key': idempotencyKey } },
      ),
    verify: (id, code) => api.post('/otp/verify', { id, code }),
    challenge: async (id) => (await api.get(`/otp/${id}`)).body.data,
    reaches: (id, ...statuses) =>
      waitFor(
        async () => {
          const challenge = await app.challenge(id);
          return statuses.includes(challenge.status) ? challenge : undefined;
        },
        { what: `${statuses.join(' or ')} of code ${id}` },
      ),
  };
  return app;
}

let numbers = 0;

/** The service's own number at the simulator, with its template. */
export async function setSender(test: TestApp): Promise<{ phoneNumberId: string; wabaId: string }> {
  const ordinal = String(++numbers).padStart(4, '0');
  const number = { phoneNumberId: `10777000000${ordinal}`, wabaId: `20777000000${ordinal}` };
  test.simulator.registerNumber({
    ...number,
    displayPhoneNumber: `+1650555${ordinal}`,
    verifiedName: 'Codes',
  });
  await approvedTemplate(test.simulatorUrl ?? '', number.wabaId, TEMPLATE);
  await test.app.get(OtpSenderService).set({
    phoneNumberId: number.phoneNumberId,
    phoneNumber: `1650555${ordinal}`,
    templateName: TEMPLATE,
    throughputPerSecond: 1_000,
    token: 'otp-token',
  });
  return number;
}

/** Makes a template that carries codes, and waits until the simulator has reviewed it. */
export async function approvedTemplate(simulatorUrl: string, wabaId: string, name: string): Promise<void> {
  await new SimulatorClient(simulatorUrl, '', 'otp-token').approvedTemplate(wabaId, {
    name,
    category: 'AUTHENTICATION',
    message_send_ttl_seconds: 60,
    components: [
      { type: 'BODY', add_security_recommendation: true },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy' }] },
    ],
  });
}

/** What the simulator took for a number: the codes in the order in which they came. */
export async function codesSentTo(test: TestApp, to: string): Promise<{ code: string; callback: string }[]> {
  const response = await fetch(`${test.simulatorUrl}/_simulator/messages?to=${to}`);
  const { data } = (await response.json()) as {
    data: { callback: string; body: { template: { components: { parameters: { text: string }[] }[] } } }[];
  };
  return data.map(({ body, callback }) => ({
    code: body.template.components[0]?.parameters[0]?.text ?? '',
    callback,
  }));
}

let phones = 0;

/** A German mobile number that plays no scenario. */
export function mobile(): string {
  return `+4915112${String(++phones).padStart(4, '0')}9`;
}
