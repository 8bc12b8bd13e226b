import type { Single } from '../api/message.js';
import { ApiFault } from '../api/api-fault.js';
import { paint } from '../style.js';
import { Skipped, type Stage } from './stage.js';
import { WebhookReceiver } from './webhook-receiver.js';

/** Sets a webhook of this command's own, hears a test event and a message's statuses, and takes it away again. */
export async function beTold(stage: Stage): Promise<void> {
  const taken = await webhookUrl(stage);
  if (taken !== null)
    throw new Skipped(`the workspace has a webhook, ${taken}: it stays; DELETE /webhook takes it away`);
  const receiver = await WebhookReceiver.listen();
  try {
    receiver.secret = await setWebhook(stage, receiver.url);
    await stage.api.post('/webhook/test', {});
    await stage.waitFor('the test event', () => receiver.event('webhook.test'));
    stage.expect(true, 'a test event came, signature OK');
    await stage.breathe();
    const { id } = await stage.sendText(stage.demo.recipients[0]?.to ?? '', 'Tell me how it goes.');
    for (const status of ['accepted', 'sent', 'delivered', 'read']) {
      await stage.waitFor(`the event of ${status}`, () => receiver.status(id, status));
      stage.note(`${paint.name('⇠')} message.status.updated  ${status}  ${paint.good('signature OK')}`);
    }
    stage.expect(receiver.forged === 0, 'every signature was verified from the raw bytes');
  } finally {
    await receiver.close();
    if (receiver.secret !== null) await stage.api.call('DELETE', '/webhook').catch(() => undefined);
  }
}

async function webhookUrl(stage: Stage): Promise<string | null> {
  try {
    const { data } = await stage.api.get<Single<{ url: string }>>('/webhook');
    return data.url;
  } catch (error) {
    if (error instanceof ApiFault && error.code === 'WEBHOOK_NOT_FOUND') return null;
    throw error;
  }
}

async function setWebhook(stage: Stage, url: string): Promise<string> {
  try {
    const answer = await stage.api.call<Single<{ secret: string }>>('PUT', '/webhook', { body: { url } });
    return answer.body.data.secret;
  } catch (error) {
    if (!(error instanceof ApiFault) || error.code !== 'WEBHOOK_URL_NOT_ALLOWED') throw error;
    throw new Skipped(
      'webhooks go to public https addresses only; to see this chapter start Herald with WEBHOOK_ALLOW_PRIVATE_TARGETS=true npm start',
    );
  }
}
