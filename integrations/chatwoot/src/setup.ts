import { createHeraldClient, HeraldError } from '@herald/client';
import { Chatwoot, type Inbox } from './chatwoot.js';
import { ChatwootError } from './failure.js';
import { readInstalled, type Settings, SetupError, storeInstalled } from './settings.js';

const SCOPES = [
  'connections:read',
  'messages:read',
  'messages:write',
  'media:read',
  'media:write',
  'webhooks:read',
] as const;
/** API inboxes sign their callbacks from this version on. */
const OLDEST = { major: 4, minor: 13 };

/**
 * Makes the inbox in Chatwoot, or brings it up to date. Everything is checked before anything is changed; repeat it as
 * often as you like.
 *
 * @param say one line of what was found or done
 * @throws SetupError that says what to do
 */
export async function setUp(settings: Settings, say: (line: string) => void): Promise<void> {
  if (settings.bridgeUrl === null) {
    throw new SetupError(
      'BRIDGE_URL is missing: where Chatwoot reaches this bridge, such as https://bridge.example.com',
    );
  }
  const callback = `${settings.bridgeUrl}/callback`;
  const connection = await checkHerald(settings, say);
  const chatwoot = new Chatwoot(settings, new AbortController().signal);
  await checkChatwoot(chatwoot, settings, say);
  const inbox = await makeInbox(chatwoot, settings, connection.phone, callback, say);
  if (typeof inbox.secret !== 'string' || inbox.secret === '') {
    throw new SetupError(
      'Chatwoot shows no secret of the inbox, so callbacks could not be told from forgeries. Use 4.13 or newer.',
    );
  }
  const kept = inbox.lock_to_single_conversation === true;
  say(
    `Chatwoot: a customer has ${kept ? 'one conversation, which opens again' : 'a new conversation after a resolved one'}`,
  );
  storeInstalled(settings, { inboxId: inbox.id, connectionId: connection.id });
  say(`stored in ${settings.dataDir}. Add agents to the inbox in Chatwoot, and run "herald-chatwoot start"`);
}

async function checkHerald(settings: Settings, say: (line: string) => void): Promise<{ id: string; phone: string }> {
  const herald = createHeraldClient({ baseUrl: settings.heraldUrl, apiKey: settings.heraldKey, maxAttempts: 2 });
  const key = await refusing('Herald', herald.key.get());
  const missing = SCOPES.filter((scope) => !key.scopes.includes(scope));
  if (missing.length > 0)
    throw new SetupError(`The key of Herald lacks scopes: ${missing.join(', ')}. Make another key.`);
  say(`Herald ${key.version}: key "${key.name}" of workspace "${key.workspace.name}" has all scopes`);
  const all = await refusing('Herald', Promise.resolve(herald.connections.list()));
  const wanted = settings.connectionId;
  const [found, second] = wanted === null ? all : all.filter(({ id }) => id === wanted);
  if (found === undefined) {
    throw new SetupError(
      wanted === null ? 'The workspace has no number yet.' : 'HERALD_CONNECTION_ID is no number of the workspace.',
    );
  }
  if (second !== undefined) {
    const numbers = all.map(({ id, phone_number: phone }) => `  ${id}  ${phone}`).join('\n');
    throw new SetupError(
      `The workspace has several numbers. Give HERALD_CONNECTION_ID; run one bridge for each:\n${numbers}`,
    );
  }
  say(`Herald: number ${found.phone_number} (${found.status})`);
  return { id: found.id, phone: found.phone_number };
}

async function checkChatwoot(chatwoot: Chatwoot, { accountId }: Settings, say: (line: string) => void): Promise<void> {
  const { version } = await refusing('Chatwoot', chatwoot.version());
  const [major = 0, minor = 0] = version.split('.').map(Number);
  if (major < OLDEST.major || (major === OLDEST.major && minor < OLDEST.minor)) {
    throw new SetupError(
      `Chatwoot is ${version}. API inboxes sign their callbacks from ${OLDEST.major}.${OLDEST.minor} on: upgrade it.`,
    );
  }
  const { accounts = [] } = await refusing('Chatwoot', chatwoot.profile());
  const role = accounts.find(({ id }) => id === accountId)?.role;
  if (role === undefined) throw new SetupError(`CHATWOOT_TOKEN is of a person who is not in account ${accountId}.`);
  if (role !== 'administrator') {
    throw new SetupError('CHATWOOT_TOKEN is not of an administrator: only they see the secret of an inbox.');
  }
  say(`Chatwoot ${version}: the token is of an administrator of account ${accountId}`);
}

async function makeInbox(
  chatwoot: Chatwoot,
  settings: Settings,
  phone: string,
  callback: string,
  say: (line: string) => void,
): Promise<Inbox> {
  const name = settings.inboxName ?? `WhatsApp ${phone}`;
  const id = settings.inboxId ?? readInstalled(settings)?.inboxId ?? null;
  const all = (await refusing('Chatwoot', chatwoot.inboxes())).filter(
    ({ channel_type: type }) => type === 'Channel::Api',
  );
  const found =
    all.find((inbox) => inbox.id === id) ??
    all.find(({ webhook_url: url }) => url === callback) ??
    all.find((inbox) => inbox.name === name);
  if (settings.inboxId !== null && found?.id !== settings.inboxId) {
    throw new SetupError(`CHATWOOT_INBOX_ID ${settings.inboxId} is no API inbox of account ${settings.accountId}.`);
  }
  if (found === undefined) {
    const made = await refusing('Chatwoot', chatwoot.createInbox(name, callback));
    say(`Chatwoot: made inbox ${made.id} "${name}", which calls ${callback}`);
    return refusing('Chatwoot', chatwoot.inbox(made.id));
  }
  if (found.webhook_url === callback) {
    say(`Chatwoot: inbox ${found.id} "${found.name}" calls ${callback} already`);
  } else {
    await refusing('Chatwoot', chatwoot.pointInbox(found.id, callback));
    say(`Chatwoot: inbox ${found.id} "${found.name}" calls ${callback} now`);
  }
  return refusing('Chatwoot', chatwoot.inbox(found.id));
}

async function refusing<Answer>(peer: string, call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof ChatwootError && error.status === 401) {
      throw new SetupError('Chatwoot refuses CHATWOOT_TOKEN (401).', { cause: error });
    }
    if (error instanceof HeraldError || error instanceof ChatwootError || error instanceof Error) {
      throw new SetupError(`${peer} does not help: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
