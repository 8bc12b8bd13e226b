import { newId } from '../../../src/common/ids.js';
import type { ApiResponse } from '../../support/api-client.js';
import { nextPhone, type Stage } from './stage.js';

type Json = Record<string, unknown>;

/** Status and code, as one comparable thing. */
function outcome({ status, body }: ApiResponse | ApiResponse<null>): string {
  return body?.error === undefined ? String(status) : `${status} ${body.error.code}`;
}

async function outcomes(calls: readonly [name: string, call: Promise<ApiResponse>][]): Promise<Record<string, string>> {
  const answered = await Promise.all(calls.map(async ([name, call]) => [name, outcome(await call)] as const));
  return Object.fromEntries(answered);
}

/** `ensure_resource_availability`: what a create answered is there at once. */
export async function ensureAvailability(stage: Stage): Promise<void> {
  const { own } = stage;
  const { api } = own.workspace;
  const { id: connectionId } = own.connection;
  const [contact] = own.contacts;
  const text = { connection_id: connectionId, to: contact?.phone, type: 'text', text: { body: 'here' } };
  const sent = await api.post('/messages', text, { headers: { 'idempotency-key': newId() } });
  expect((await api.get(`/messages/${sent.body.data.id}`)).body.data).toMatchObject({
    id: sent.body.data.id,
    ...to(text),
  });
  const listed = (await api.get('/messages?limit=100')).body.data as Json[];
  expect(listed.map(({ id }) => id)).toContain(sent.body.data.id);

  const media = await stage.upload();
  expect(outcome(await api.get(`/media/${media}/url`))).toBe('200');
  expect(((await api.get('/media?limit=100')).body.data as Json[]).map(({ id }) => id)).toContain(media);

  const name = `here_${newId().replaceAll('-', '')}`;
  const path = `/connections/${connectionId}/templates`;
  const made = await api.post(path, { name, language: 'de', category: 'UTILITY', body: 'Hallo, hier ist sie.' });
  expect(made.status).toBe(201);
  expect((await api.get(`${path}/${name}`)).body.data.versions).toMatchObject([{ id: made.body.data.id, name }]);
  expect(((await api.get(`${path}?name=${name}`)).body.data as Json[]).map(({ id }) => id)).toEqual([
    made.body.data.id,
  ]);

  const profile = { about: 'Open until eight', websites: ['https://example.com/'] };
  const changed = await api.request({ method: 'PUT', path: `/connections/${connectionId}/profile`, body: profile });
  expect(changed.body.data).toMatchObject(profile);
  expect((await api.get(`/connections/${connectionId}/profile`)).body.data).toEqual(changed.body.data);

  const webhook = { url: `${stage.hookUrl}/here`, events: ['message.received'], active: false };
  await api.request({ method: 'PUT', path: '/webhook', body: webhook });
  expect((await api.get('/webhook')).body.data).toMatchObject(webhook);
  const code = await own.otp.send(nextPhone());
  const { test_code: _code, ...challenge } = code.body.data as Json;
  expect(await own.otp.challenge(String(challenge.id))).toEqual(challenge);
}

/** What GET shows of a message that was posted. */
function to({ connection_id, to, type, text }: Json): Json {
  return { connection_id, to, type, body: (text as Json).body };
}

/** `use_after_free`: whatever is asked of a deleted thing, it does not exist. */
export async function ensureUseAfterFree(stage: Stage): Promise<void> {
  const { own, test } = stage;
  const { api } = own.workspace;
  const { id: connectionId } = own.connection;
  const media = await stage.upload();
  expect(outcome(await api.request({ method: 'DELETE', path: `/media/${media}` }))).toBe('204');
  const photo = { connection_id: connectionId, to: own.contacts[0]?.phone, type: 'image', media: { id: media } };
  expect(
    await outcomes([
      ['link', api.get(`/media/${media}/url`)],
      ['again', api.request({ method: 'DELETE', path: `/media/${media}` })],
      ['send', api.post('/messages', photo, { headers: { 'idempotency-key': newId() } })],
    ]),
  ).toEqual({ link: '404 MEDIA_NOT_FOUND', again: '404 MEDIA_NOT_FOUND', send: '422 MEDIA_NOT_FOUND' });
  expect(((await api.get('/media?limit=100')).body.data as Json[]).map(({ id }) => id)).not.toContain(media);

  const name = `gone_${newId().replaceAll('-', '')}`;
  const path = `/connections/${connectionId}/templates`;
  await api.post(path, { name, language: 'de', category: 'UTILITY', body: 'Hallo, gleich ist sie weg.' });
  expect(outcome(await api.request({ method: 'DELETE', path: `${path}/${name}` }))).toBe('200');
  const edit = { language: 'de', components: [{ type: 'BODY', text: 'Hallo noch einmal.' }] };
  expect(
    await outcomes([
      ['read', api.get(`${path}/${name}`)],
      ['again', api.request({ method: 'DELETE', path: `${path}/${name}` })],
      ['edit', api.request({ method: 'PATCH', path: `${path}/${name}`, body: edit })],
      ['preview', api.post(`${path}/preview`, { template_name: name })],
    ]),
  ).toEqual(Object.fromEntries(['read', 'again', 'edit', 'preview'].map((key) => [key, '404 TEMPLATE_NOT_FOUND'])));
  expect((await api.get(`${path}?name=${name}`)).body.data).toEqual([]);

  const subscribed = test.api.as(await stage.subscribedKey());
  expect(outcome(await subscribed.request({ method: 'DELETE', path: '/webhook' }))).toBe('204');
  expect(
    await outcomes([
      ['read', subscribed.get('/webhook')],
      ['again', subscribed.request({ method: 'DELETE', path: '/webhook' })],
      ['test', subscribed.post('/webhook/test')],
      ['rotate', subscribed.post('/webhook/rotate-secret')],
      ['deliveries', subscribed.get('/webhook/deliveries')],
    ]),
  ).toEqual(
    Object.fromEntries(['read', 'again', 'test', 'rotate', 'deliveries'].map((key) => [key, '404 WEBHOOK_NOT_FOUND'])),
  );
}
