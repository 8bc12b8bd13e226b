import { type INestApplicationContext, Logger } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { type DemoFile, type DemoRecipient, readDemoFile, writeDemoFiles } from './demo-file.js';
import { type Services, servicesOf } from './services.js';
import type { Connection } from '../modules/connections/connections.types.js';
import { API_PREFIX } from '../infrastructure/http/api-version.js';
import { OPERATOR_SCOPES, SCOPES, isOtpScope } from '../infrastructure/http/scopes.js';
import type { Workspace } from '../modules/workspaces/workspaces.service.js';
import { DEMO_NUMBERS, DEMO_OTP_NUMBER, DEMO_OTP_TEMPLATE } from '../../simulator/src/demo-numbers.js';
import type { SimulatorNumber } from '../../simulator/src/simulator.types.js';
import type { OtpMode, OtpProject } from '../modules/otp/otp.types.js';
import { RecipientsService } from '../modules/conversations/windows/recipients.service.js';
import type { Config } from '../infrastructure/config/config.js';
import { AccessLog } from '../infrastructure/operations/logger.js';
import { databaseClock } from '../common/clock.js';
import {
  EXAMPLE_CONNECTION_ID,
  EXAMPLE_FAILED_MESSAGE_ID,
  EXAMPLE_MEDIA_ID,
  EXAMPLE_MESSAGE_ID,
  EXAMPLE_CONVERSATION_ID,
  EXAMPLE_RECEIVED_MESSAGE_ID,
  EXAMPLE_SCHEDULED_MESSAGE_ID,
  EXAMPLE_TAG,
  EXAMPLE_WEBHOOK_URL,
} from '../common/example-ids.js';
import { AppError } from '../common/app-error.js';
import { newId } from '../common/ids.js';
import { DemoReceivers } from '../modules/webhook/address/demo-receivers.service.js';
import { MessagesService } from '../modules/messages/messages.service.js';
import type { Message } from '../modules/message-state/message.types.js';
import { DocsDemo } from '../infrastructure/http/docs/docs.js';

/** The recipient of the first example; the simulator delivers everything to it. */
export const DEMO_CUSTOMER = '15550001234';

/** What the simulator does with a message to a number that ends in these digits. */
const SCENARIOS: Readonly<Record<string, string>> = {
  '0001': 'sent, then nothing',
  '0002': 'accepted, then failed with 131026 by notification',
  '0003': 'refused at once with 131009',
  '0004': '429 with 130429 twice, then accepted',
  '0005': 'the message is taken, and the connection cut without an answer',
  '0006': '500 without a body, message not taken',
  '0007': 'answer after 60 s',
  '0008': 'notifications twice, in reverse order, before the answer',
  '0009': 'read without delivered',
  '0010': '131056 until 6 s have passed since the last message to it',
  '0011': 'accepted, then failed as 131047',
  '0012': 'the customer replies with a text at once',
};

/** The contacts whose window the demo keeps open on its first connection. */
export const DEMO_RECIPIENTS: readonly DemoRecipient[] = [
  { to: `+${DEMO_CUSTOMER}`, outcome: 'sent, delivered, read' },
  ...Object.entries(SCENARIOS).map(([digits, outcome]) => ({ to: `+1555010${digits}`, outcome })),
];

/** Addresses that only this machine can reach. */
const LOOPBACK: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

const YEAR_MS = 365 * 24 * 3_600_000;
const CODE_COUNTRIES = ['DE', 'US'];
const CODES_A_MONTH = 10_000;

/**
 * The demo workspace: created at the first start; later starts add missing parts. Its keys stay the same as long as
 * `DATA_DIR/demo.json` exists.
 */
class Demo {
  private readonly services: Services;

  constructor(
    app: INestApplicationContext,
    private readonly dataDir: string,
  ) {
    this.services = servicesOf(app);
  }

  async workspace(): Promise<Workspace> {
    const known = (await this.services.workspaces.list()).find(({ name }) => name === 'Demo');
    const workspace = known ?? (await this.services.workspaces.create('Demo'));
    if (known === undefined) new Logger('Demo').log('created the demo workspace');
    const paidUntil = workspace.apiPaidUntil?.getTime() ?? 0;
    if (paidUntil > databaseClock.now() + YEAR_MS) return workspace;
    return this.services.workspaces.setSubscription(workspace.id, new Date(databaseClock.now() + 10 * YEAR_MS));
  }

  async connection(organizationId: string, number: SimulatorNumber): Promise<Connection> {
    const { phoneNumberId, wabaId, displayPhoneNumber, verifiedName } = number;
    const known = await this.services.connections.findByPhoneNumberId(phoneNumberId);
    if (known?.organizationId === organizationId) return known;
    const phoneNumber = displayPhoneNumber.replaceAll(/\D/g, '');
    const token = simulatorToken();
    return this.services.connections.add({ organizationId, phoneNumberId, wabaId, phoneNumber, verifiedName, token });
  }

  /** The number that sends the codes; a number that was set otherwise stays. */
  async prepareCodeSender(): Promise<void> {
    if ((await this.services.otpSender.find()) !== null) return;
    await this.services.otpSender.set({
      phoneNumberId: DEMO_OTP_NUMBER.phoneNumberId,
      phoneNumber: DEMO_OTP_NUMBER.displayPhoneNumber.replaceAll(/\D/g, ''),
      templateName: DEMO_OTP_TEMPLATE,
      token: simulatorToken(),
    });
  }

  async project(organizationId: string, mode: OtpMode): Promise<OtpProject> {
    const name = `Demo ${mode}`;
    const known = (await this.services.otpProjects.list(organizationId)).find((project) => project.name === name);
    return known ?? this.services.otpProjects.create({ organizationId, name, mode });
  }

  async grantCodes(organizationId: string, projectId: string): Promise<void> {
    const granted = await this.services.otpPackages.allowances(organizationId, projectId);
    for (const country of CODE_COUNTRIES) {
      if (granted.some((allowance) => allowance.country === country)) continue;
      await this.services.otpPackages.grant(organizationId, projectId, country, CODES_A_MONTH);
    }
  }

  /**
   * The key of an earlier start if it is still valid for the workspace or project; otherwise a new one, and the old
   * ones are revoked.
   */
  async key(
    field: 'api_key' | 'otp_sandbox_key' | 'otp_live_key',
    organizationId: string,
    otpProject?: OtpProject,
  ): Promise<string> {
    const known = readDemoFile(this.dataDir)[field];
    if (typeof known === 'string' && (await this.opens(known, organizationId, otpProject))) return known;
    const name = `${otpProject?.name ?? 'Demo'} key`;
    for (const key of await this.services.apiKeys.list(organizationId)) {
      if (key.name === name && key.revokedAt === null) await this.services.apiKeys.revoke(key.id);
    }
    const scopes = SCOPES.filter((scope) => isOtpScope(scope) === (otpProject !== undefined));
    return (await this.services.apiKeys.create({ organizationId, name, scopes, otpProject })).key;
  }

  /**
   * A key of the admin API, that of an earlier start if it is still valid. Null where other machines can reach this
   * service, in production, and without an admin API.
   */
  async operatorKey({ host, production, adminApi }: Config['process']): Promise<string | null> {
    if (production || !adminApi || !LOOPBACK.has(host)) return null;
    const { operatorKeys } = this.services;
    const known = readDemoFile(this.dataDir).operator_key;
    if (typeof known === 'string') {
      const isValid = await operatorKeys.authenticate(known).then(
        ({ workspaceIds }) => workspaceIds === null,
        () => false,
      );
      if (isValid) return known;
    }
    const name = 'Demo operator key';
    for (const key of await operatorKeys.list()) {
      if (key.name === name && key.revokedAt === null) await operatorKeys.revoke(key.id);
    }
    return (await operatorKeys.create({ name, scopes: OPERATOR_SCOPES, workspaceIds: null })).key;
  }

  private async opens(text: string, organizationId: string, otpProject?: OtpProject): Promise<boolean> {
    try {
      const caller = await this.services.apiKeys.authenticate(text);
      return caller.organizationId === organizationId && caller.otpProject?.id === otpProject?.id;
    } catch {
      return false;
    }
  }
}

/** The simulator accepts any token; a demo never has a real one. */
function simulatorToken(): string {
  return `demo-${randomBytes(16).toString('hex')}`;
}

/** A window that closes sooner is opened again: 24 h minus the 20 h for which a demo should last. */
const MIN_LEFT_MS = 4 * 3_600_000;
const OPEN_WITHIN_MS = 5_000;
const LOOK_EVERY_MS = 20;

/**
 * Lets the demo's customers write "Hi!" through the simulator, so that they may be answered. Resolves when their
 * messages have arrived through the webhook, like real ones; if they do not, it only warns.
 */
export async function openDemoWindows(
  app: INestApplicationContext,
  simulatorUrl: string,
  connection: Connection,
): Promise<void> {
  const recipients = app.get(RecipientsService, { strict: false });
  const findOpen = (phone: string) =>
    recipients.requireOpen(connection.id, phone).catch((error: unknown) => {
      if (error instanceof AppError) return null;
      throw error;
    });
  const closed: string[] = [];
  for (const { to } of DEMO_RECIPIENTS) {
    const phone = to.slice(1);
    const open = await findOpen(phone);
    if (open !== null && open.closesAt > databaseClock.now() + MIN_LEFT_MS) continue;
    if (open === null) closed.push(phone);
    await writeAs(simulatorUrl, connection.phoneNumberId, phone);
  }
  const deadline = performance.now() + OPEN_WITHIN_MS;
  for (const phone of closed) {
    while ((await findOpen(phone)) === null) {
      if (performance.now() > deadline) {
        new Logger('Demo').warn(`the demo's customers wrote, but no notification of it arrived from ${simulatorUrl}`);
        return;
      }
      await wait(LOOK_EVERY_MS);
    }
  }
}

async function writeAs(simulatorUrl: string, phoneNumberId: string, from: string): Promise<void> {
  const message = { type: 'text', text: { body: 'Hi!' } };
  const response = await fetch(`${simulatorUrl}/_simulator/inbound`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number_id: phoneNumberId, from, profile_name: 'Demo customer', message }),
    signal: AbortSignal.timeout(OPEN_WITHIN_MS),
  });
  if (!response.ok) throw new Error(`the simulator refused a demo message with ${response.status}`);
}

/** The demo workspace, with its ids and keys in DATA_DIR/demo.json. */
export async function makeDemo(
  app: INestApplicationContext,
  config: Config,
  baseUrl: string,
  simulatorUrl: string | null,
): Promise<DemoFile> {
  const { dataDir } = config.process;
  const maker = new Demo(app, dataDir);
  const { id: organizationId } = await maker.workspace();
  const apiKey = await maker.key('api_key', organizationId);
  const connections: Connection[] = [];
  for (const number of DEMO_NUMBERS) connections.push(await maker.connection(organizationId, number));
  const [first, second] = connections;
  if (first === undefined || second === undefined) throw new Error('the demo needs two numbers');
  await maker.prepareCodeSender();
  const [sandbox, live] = [await maker.project(organizationId, 'sandbox'), await maker.project(organizationId, 'live')];
  await maker.grantCodes(organizationId, live.id);
  if (simulatorUrl !== null) await quietly(app, () => openDemoWindows(app, simulatorUrl, first));
  const demo: DemoFile = {
    base_url: baseUrl,
    api_url: `${baseUrl}${API_PREFIX}`,
    docs_url: `${baseUrl}/docs`,
    api_key: apiKey,
    otp_sandbox_key: await maker.key('otp_sandbox_key', organizationId, sandbox),
    otp_live_key: await maker.key('otp_live_key', organizationId, live),
    operator_key: await maker.operatorKey(config.process),
    organization_id: organizationId,
    connection_id: first.id,
    phone_number_id: first.phoneNumberId,
    second_connection_id: second.id,
    second_phone_number_id: second.phoneNumberId,
    simulator_url: simulatorUrl,
    recipients: [...DEMO_RECIPIENTS],
  };
  app.get(DemoReceivers, { strict: false }).allow(organizationId);
  writeDemoFiles(dataDir, demo);
  await quietly(app, () => showDemoInDocs(app, config, demo));
  return demo;
}

/** Keeps the demo's own requests out of the access log. */
async function quietly(app: INestApplicationContext, work: () => Promise<void>): Promise<void> {
  const accessLog = app.get(AccessLog, { strict: false });
  accessLog.paused = true;
  try {
    await work();
  } finally {
    accessLog.paused = false;
  }
}

/** A key never expires, so every later start gets the same message. */
const FAILED_MESSAGE_KEY = 'd3a0fa11-ed00-4000-8000-000000000003';
/** The simulator accepts a message to such a number and then fails it. */
const FAILING = /0002$/;
const CALL_WITHIN_MS = 5_000;
const SCHEDULED_AHEAD_MS = 30 * 86_400_000;
/** The address of the receiver in docs/webhooks.md. */
const LOCAL_RECEIVER = 'http://127.0.0.1:8080/';

/**
 * Puts ids of the demo into the served API description, so that "Try it out" works unchanged: its number, a message
 * that can be answered, one that failed, has a tag and can be retried, one that is scheduled and can be canceled, and a
 * file. Offers the demo's keys to Swagger UI. If something cannot be made, it only warns.
 */
export async function showDemoInDocs(app: INestApplicationContext, config: Config, demo: DemoFile): Promise<void> {
  const docs = app.get(DocsDemo, { strict: false });
  docs.offer({ api_key: demo.api_key, otp_sandbox_key: demo.otp_sandbox_key });
  docs.replace(EXAMPLE_CONNECTION_ID, demo.connection_id);
  if (config.webhook.allowPrivateTargets) docs.replace(EXAMPLE_WEBHOOK_URL, LOCAL_RECEIVER);
  const answerable = answerableMessage(app, demo);
  const received = async () => (await answerable)?.id ?? null;
  const ids = {
    [EXAMPLE_MESSAGE_ID]: received,
    [EXAMPLE_RECEIVED_MESSAGE_ID]: received,
    [EXAMPLE_CONVERSATION_ID]: async () => (await answerable)?.conversationId ?? null,
    [EXAMPLE_FAILED_MESSAGE_ID]: () => failedMessage(demo),
    [EXAMPLE_SCHEDULED_MESSAGE_ID]: () => scheduledMessage(demo),
    [EXAMPLE_MEDIA_ID]: () => storedFile(demo),
  };
  for (const [example, find] of Object.entries(ids)) {
    try {
      const id = await find();
      if (id !== null) docs.replace(example, id);
    } catch (error) {
      new Logger('Demo').warn(`an example of /docs has no value: ${(error as Error).message}`);
    }
  }
}

async function answerableMessage(app: INestApplicationContext, demo: DemoFile): Promise<Message | null> {
  const { messages } = await app.get(MessagesService, { strict: false }).list(demo.organization_id, {
    status: 'received',
    connectionId: demo.connection_id,
    from: DEMO_CUSTOMER,
    limit: 1,
  });
  return messages[0] ?? null;
}

async function failedMessage(demo: DemoFile): Promise<string | null> {
  const to = demo.recipients.find((recipient) => FAILING.test(recipient.to))?.to;
  if (to === undefined || demo.simulator_url === null) return null;
  return send(demo, FAILED_MESSAGE_KEY, { to, type: 'text', text: { body: 'This one fails.' }, tag: EXAMPLE_TAG });
}

async function scheduledMessage(demo: DemoFile): Promise<string> {
  const name = 'demo-scheduled';
  const known = await firstOf(demo, `/messages?client_message_id=${name}&status=queued&limit=1`);
  const message = {
    to: DEMO_CUSTOMER,
    type: 'text',
    text: { body: 'This one goes in a month, unless you cancel it.' },
    client_message_id: name,
    send_at: new Date(databaseClock.now() + SCHEDULED_AHEAD_MS).toISOString(),
  };
  return known ?? send(demo, newId(), message);
}

async function storedFile(demo: DemoFile): Promise<string> {
  const known = await firstOf(demo, '/media?direction=outbound&limit=1');
  if (known !== null) return known;
  const form = new FormData();
  form.set('connection_id', demo.connection_id);
  form.set('file', new Blob(['Soup, bread, coffee\n'], { type: 'text/plain' }), 'menu.txt');
  return (await call<{ id: string }>(demo, '/media', { method: 'POST', body: form })).id;
}

async function firstOf(demo: DemoFile, path: string): Promise<string | null> {
  const [first] = await call<{ id: string }[]>(demo, path);
  return first?.id ?? null;
}

/** Sends from the demo's first number. */
async function send(demo: DemoFile, key: string, message: object): Promise<string> {
  const headers = { 'content-type': 'application/json', 'idempotency-key': key };
  const body = JSON.stringify({ connection_id: demo.connection_id, ...message });
  return (await call<{ id: string }>(demo, '/messages', { method: 'POST', headers, body })).id;
}

/** Calls over HTTP like any caller. Returns `data`. */
async function call<T>(demo: DemoFile, path: string, init: RequestInit = {}): Promise<T> {
  const response = await fetch(`${demo.base_url}/api/v1${path}`, {
    ...init,
    headers: { ...init.headers, authorization: `Bearer ${demo.api_key}` },
    signal: AbortSignal.timeout(CALL_WITHIN_MS),
  });
  if (!response.ok) throw new Error(`${init.method ?? 'GET'} ${path} answered ${response.status}`);
  return ((await response.json()) as { data: T }).data;
}
