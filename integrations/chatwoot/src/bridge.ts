import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHeraldClient } from '@herald/client';
import { Answers } from './answers.js';
import { Chatwoot, type Inbox } from './chatwoot.js';
import { nameOf, pause, pauseMsOf } from './failure.js';
import { Progress } from './health.js';
import { Inbound } from './inbound.js';
import { log } from './log.js';
import { createReceiver } from './server.js';
import { readInstalled, type Settings, SetupError } from './settings.js';
import { State } from './state.js';

/** How long the inbox's settings are used before Chatwoot is asked again. */
const INBOX_FRESH_MS = 60_000;
const STOP_WITHIN_MS = 10_000;

/** Runs until it is stopped. @throws SetupError where setup did not run */
export async function startBridge(settings: Settings): Promise<{ stop: () => Promise<void> }> {
  const stored = readInstalled(settings);
  const inboxId = settings.inboxId ?? stored?.inboxId;
  const connectionId = settings.connectionId ?? stored?.connectionId;
  if (inboxId === undefined || connectionId === undefined) {
    throw new SetupError(
      'There is no inbox yet. Run "herald-chatwoot setup" with the same DATA_DIR, or give CHATWOOT_INBOX_ID and HERALD_CONNECTION_ID.',
    );
  }
  const installed = { inboxId, connectionId };
  const stopping = new AbortController();
  const { signal } = stopping;
  const herald = createHeraldClient({ baseUrl: settings.heraldUrl, apiKey: settings.heraldKey, timeoutMs: 30_000 });
  const chatwoot = new Chatwoot(settings, signal);
  const state = await State.open(settings.dataDir);
  const progress = new Progress();

  let latest: { inbox: Inbox; at: number } | null = null;
  let asked = 0;
  const ask = async (): Promise<Inbox> => {
    asked = performance.now();
    const inbox = await chatwoot.inbox(inboxId);
    latest = { inbox, at: performance.now() };
    return inbox;
  };
  const inbox = async (): Promise<Inbox> =>
    latest !== null && performance.now() - latest.at < INBOX_FRESH_MS ? latest.inbox : ask();

  const answers = new Answers(herald, chatwoot, state, settings, installed, progress, signal);
  const inbound = new Inbound(herald, chatwoot, state, settings, installed, inbox, progress, signal);
  const server = createReceiver({
    accountId: settings.accountId,
    state,
    progress,
    inbox: () => {
      const secret = latest?.inbox.secret ?? null;
      return secret === null ? null : { id: inboxId, secret };
    },
    onForged: () => {
      log.warn('a callback has a wrong signature');
      if (performance.now() - asked > INBOX_FRESH_MS) ask().catch(() => undefined);
    },
    onAccepted: () => answers.wake(),
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(settings.port, settings.host, resolve);
  });
  log.info('listening', { port: (server.address() as AddressInfo).port, waiting_answers: state.waiting });
  answers.wake();
  const reading = (async () => {
    for (let attempt = 0; !signal.aborted && latest === null; attempt++) {
      try {
        const { secret } = await ask();
        if (typeof secret === 'string' && secret !== '') log.info('ready', { inbox: inboxId });
        else log.error('Chatwoot shows no secret of the inbox: use 4.13 or newer, and the token of an administrator');
      } catch (error) {
        progress.failed('events', nameOf(error));
        log.warn('Chatwoot does not answer', { error: nameOf(error) });
        await pause(pauseMsOf(error, attempt), signal).catch(() => undefined);
      }
    }
    await inbound.run();
  })().catch((error: unknown) => {
    if (!signal.aborted) log.error('the reader of events ended', { error: nameOf(error) });
  });

  const stop = async (): Promise<void> => {
    log.info('stopping');
    server.close();
    server.closeIdleConnections();
    stopping.abort();
    const ended = Promise.all([reading, answers.idle()]);
    await Promise.race([ended, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
    server.closeAllConnections();
    await state.close();
    log.info('stopped', { waiting_answers: state.waiting });
  };
  return { stop };
}
