import { newId } from '../../../src/common/ids.js';
import { bodyOf, LocalServer } from '../../support/local-server.js';
import { connectionAtSimulator, sendingWorkspace, type SendingWorkspace } from '../../messages/fixture.js';
import { uploaded } from '../../media/fixture.js';
import * as sample from '../../media/samples.js';
import { otpApp, type OtpApp } from '../../otp/fixture.js';
import type { ApiBody } from '../../support/api-client.js';
import type { ConnectionRow } from '../../support/factories.js';
import { startTestApp, type TestApp } from '../../support/test-app.js';
import { waitFor } from '../../support/wait-for.js';

/** A workspace with something of everything in it. */
export interface Tenant {
  workspace: SendingWorkspace;
  /** May do all that is not OTP. */
  key: string;
  connection: ConnectionRow;
  second: ConnectionRow;
  /** With an open window; `earlier` is a message of that conversation. */
  contacts: { phone: string; conversationId: string; earlier: string }[];
  /** One in each state. */
  messages: string[];
  /** By type, all uploaded. */
  media: Record<string, string>;
  /** Approved, in en_US, with two variables. */
  template: string;
  /** Likewise; requests that are bent may still change or delete it. */
  otherTemplate: string;
  /** Ids of attempts to deliver webhook events. */
  deliveries: string[];
  /** Id of a replay of them, which is done. */
  replay: string;
  otp: OtpApp;
  /** Of codes that were sent. */
  challenges: string[];
  /** Id of one of its own. */
  optOut: string;
  /** Of a file that is there no more. */
  deletedFile: string;
  /** Id of an event destination, which is paused. */
  destination: string;
}

export interface Stage {
  test: TestApp;
  own: Tenant;
  foreign: Tenant;
  /** Takes every webhook delivery. */
  hookUrl: string;
  /** Keys that open nothing: expired, revoked, and one for each scope that an operation may lack. */
  expiredKey: string;
  revokedKey: string;
  keyWithout(scope: string): Promise<string>;
  unpaidKey: string;
  /** Uploads a picture and returns its id. */
  upload: () => Promise<string>;
  /** Id of a new opt-out of the own workspace. */
  optOut: () => Promise<string>;
  /** Key of a new workspace with a webhook. */
  subscribedKey: () => Promise<string>;
  stop: () => Promise<void>;
}

export const FILES: Record<string, { bytes: Buffer; name: string; mimeType: string }> = {
  image: { bytes: sample.png(), name: 'photo.png', mimeType: 'image/png' },
  video: { bytes: sample.isoMedia(), name: 'film.mp4', mimeType: 'video/mp4' },
  audio: { bytes: sample.mp3(), name: 'song.mp3', mimeType: 'audio/mpeg' },
  document: { bytes: sample.pdf(), name: 'menu.pdf', mimeType: 'application/pdf' },
  sticker: { bytes: sample.webp(), name: 'smile.webp', mimeType: 'image/webp' },
};

/** Nothing listens there. */
const NO_BROKER = '127.0.0.1:9';
export const DESTINATION = { nats: { url: `nats://${NO_BROKER}` }, active: false };

/** Of a message that is read: what is done with it moves nothing. */
export const STAGE_TAG = 'stage';

const STATES = ['queued', 'sent', 'delivered', 'read', 'failed', 'outcome_unknown', 'received'] as const;

export async function startStage(): Promise<Stage> {
  const sink = await LocalServer.start(async (request, response) => {
    await bodyOf(request);
    response.end();
  });
  const hookUrl = `${sink.url}/hook`;
  const test = await startTestApp({
    env: {
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      DATABASE_POOL_SIZE: '8',
      EVENT_DESTINATION_HOSTS: NO_BROKER,
    },
    simulator: { templateCreationsPerHour: 1_000_000, templateReviewMs: 50 },
  });
  const stop = async (): Promise<void> => {
    await test.stop();
    await sink.stop();
  };
  try {
    return { ...(await prepared(test, hookUrl)), stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function prepared(test: TestApp, hookUrl: string): Promise<Omit<Stage, 'stop'>> {
  const [own, foreign] = await Promise.all([tenant(test, hookUrl), tenant(test, hookUrl)]);
  await approvedTemplate(foreign.workspace, 'of_the_other_workspace');
  await approvedTemplate(own.workspace, 'deleted_here');
  const path = `/connections/${own.connection.id}/templates/deleted_here`;
  await own.workspace.api.request({ method: 'DELETE', path });
  const { organizationId } = own.workspace;
  const keys = new Map<string, Promise<string>>();
  const makeKey = async (values: Partial<Parameters<typeof test.factories.apiKey>[0]>): Promise<string> =>
    (await test.factories.apiKey({ organizationId, ...values })).text;
  const unpaid = await test.factories.workspace({ paidUntil: null });
  return {
    test,
    own,
    foreign,
    hookUrl,
    expiredKey: await makeKey({ expiresAt: new Date(Date.now() - 60_000) }),
    revokedKey: await makeKey({ revokedAt: new Date(Date.now() - 60_000) }),
    unpaidKey: await makeKey({ organizationId: unpaid.id }),
    keyWithout: (scope) => {
      const other = scope === 'messages:read' ? 'media:read' : 'messages:read';
      const made = keys.get(other) ?? makeKey({ scopes: [other] });
      keys.set(other, made);
      return made;
    },
    upload: () => uploadOf(test, own.workspace, own.key, 'image'),
    optOut: () => optOutOf(test, own.key),
    subscribedKey: async () => {
      const { id } = await test.factories.workspace();
      const { text } = await test.factories.apiKey({ organizationId: id });
      await test.api.as(text).request({ method: 'PUT', path: '/webhook', body: { url: hookUrl } });
      return text;
    },
  };
}

async function tenant(test: TestApp, hookUrl: string): Promise<Tenant> {
  const workspace = await sendingWorkspace(test);
  const { connection, organizationId } = workspace;
  const { text: key } = await test.factories.apiKey({ organizationId });
  const contacts = await Promise.all(Array.from({ length: 6 }, () => contactOf(test, workspace)));
  const messages = await Promise.all(
    STATES.map(async (status) => (await test.factories.message({ connection, status })).id),
  );
  await test.factories.message({ connection, status: 'read', tag: STAGE_TAG });
  const media: Record<string, string> = {};
  for (const type of Object.keys(FILES)) media[type] = await uploadOf(test, workspace, key, type);
  const otp = await otpApp(test, 'sandbox', { organizationId });
  const challenges = [];
  for (let n = 0; n < 3; n++) challenges.push((await otp.send(nextPhone())).body.data.id as string);
  const deletedFile = await uploadOf(test, workspace, key, 'image');
  const { status } = await test.api.as(key).request({ method: 'DELETE', path: `/media/${deletedFile}` });
  if (status !== 204) throw new Error(`the file was not deleted: ${status}`);
  const deliveries = await deliveriesOf(workspace, hookUrl);
  const replay = await workspace.api.post('/webhook/replay', { since: new Date(Date.now() - 3_600_000).toISOString() });
  return {
    workspace,
    key,
    connection,
    second: await connectionAtSimulator(test, organizationId),
    contacts,
    messages,
    media,
    template: await approvedTemplate(workspace, 'parcel_sent'),
    otherTemplate: await approvedTemplate(workspace, 'parcel_late'),
    deliveries,
    replay: replay.body.data.id as string,
    otp,
    challenges,
    optOut: await optOutOf(test, key),
    deletedFile,
    destination: await destinationOf(workspace.api),
  };
}

export async function destinationOf(api: Pick<SendingWorkspace['api'], 'post'>): Promise<string> {
  const made = await api.post('/destinations', { ...DESTINATION, name: newId() });
  if (made.status !== 201) throw new Error(`no destination: ${JSON.stringify(made.body)}`);
  return made.body.data.id as string;
}

/** Of a person to whom nothing else goes. */
async function optOutOf(test: TestApp, key: string): Promise<string> {
  const body = { to: nextPhone(), category: 'marketing' };
  return (await test.api.as(key).request({ method: 'PUT', path: '/opt-outs', body })).body.data.id as string;
}

async function uploadOf(test: TestApp, workspace: SendingWorkspace, key: string, type: string): Promise<string> {
  const { connection, organizationId, api } = workspace;
  const sender = { workspace: { id: organizationId, name: '' }, connection, key: { id: '', text: key }, api };
  const { bytes, name, mimeType } = FILES[type] as (typeof FILES)[string];
  const options = { file: bytes, filename: name, contentType: mimeType, fields: { type } };
  return (await uploaded(test, sender, options)).id as string;
}

async function contactOf(test: TestApp, { connection }: SendingWorkspace): Promise<Tenant['contacts'][number]> {
  const { id: conversationId, phone } = await test.factories.conversation({ connection });
  const { id: earlier } = await test.factories.message({
    connection,
    conversationId,
    recipient: phone,
    status: 'received',
  });
  return { phone, conversationId, earlier };
}

async function approvedTemplate({ api, connection }: SendingWorkspace, name: string): Promise<string> {
  const path = `/connections/${connection.id}/templates`;
  const made = await api.post(path, {
    name,
    language: 'en_US',
    category: 'UTILITY',
    body: 'Hello {{1}}, your order {{2}} is on its way.',
    variable_examples: ['Ana', '4711'],
  });
  if (made.status !== 201) throw new Error(`no template: ${JSON.stringify(made.body)}`);
  const approved = ({ data }: ApiBody): boolean => (data.versions as { status: string }[])[0]?.status === 'approved';
  await waitFor(async () => approved((await api.get(`${path}/${name}`)).body), { what: 'an approved template' });
  return name;
}

async function deliveriesOf({ api }: SendingWorkspace, url: string): Promise<string[]> {
  const made = await api.request({ method: 'PUT', path: '/webhook', body: { url } });
  if (made.status !== 200) throw new Error(`no webhook: ${JSON.stringify(made.body)}`);
  await Promise.all([1, 2, 3].map(() => api.post('/webhook/test')));
  return waitFor(
    async () => {
      const { data } = (await api.get('/webhook/deliveries')).body;
      return (data as { id: string }[]).length >= 3 && (data as { id: string }[]).map(({ id }) => id);
    },
    { what: 'three deliveries' },
  );
}

let phones = 0;

/** A German mobile number that was not used yet. */
export function nextPhone(): string {
  phones += 1;
  return `+4915112${String(phones).padStart(5, '0')}`;
}
