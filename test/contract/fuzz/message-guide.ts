import { newId } from '../../../src/common/ids.js';
import { withCardsAlike } from '../../support/schema-arbitrary.js';
import type { Made, Request } from './request.js';
import type { Stage, Tenant } from './stage.js';

type Json = Record<string, unknown>;

/** The id that the platform gave a file which was uploaded past Herald. */
const PLATFORM_ID = '1037543291543636';

/**
 * A message body that the workspace can send: to a contact whose window is open, with files and templates that exist.
 */
export function placedMessage({ pick, body }: Made, { own }: Stage): Pick<Request, 'headers' | 'body'> {
  // A made-up user id has no open window: `to` replaces it.
  const {
    media_object_id: file,
    recipient: _userId,
    to: _to,
    connection_id: _connection,
    conversation_id: given,
    ...rest
  } = withCardsAlike(body as Json);
  const { phone, earlier, conversationId } = own.contacts[pick % own.contacts.length] as Tenant['contacts'][number];
  const placed: Json = {
    ...rest,
    ...(given === undefined
      ? { connection_id: own.connection.id, to: pick % 3 === 0 ? `+${phone}` : phone }
      : { conversation_id: conversationId }),
    ...(rest.send_at !== undefined && { send_at: new Date(Date.now() + 3_600_000).toISOString() }),
    ...(rest.reply_to_message_id !== undefined && { reply_to_message_id: earlier }),
    ...(rest.media !== undefined && { media: mediaOf(rest, own, pick) }),
    ...(rest.template !== undefined && { template: templateOf(rest.template as Json, own, pick) }),
    // With media it would have to be the same file, with a template its header's.
    ...(file !== undefined && rest.media === undefined && { media_object_id: own.media.image }),
  };
  return { body: placed, headers: { 'idempotency-key': newId() } };
}

/** The same as a message of a batch. */
export function batchedMessage({ body, ...made }: Made, stage: Stage): Json {
  const { idempotency_key: _key, ...message } = body as Json;
  return { ...(placedMessage({ ...made, body: message }, stage).body as Json), idempotency_key: newId() };
}

function mediaOf({ type, media }: Json, own: Tenant, pick: number): Json {
  const { id, ...rest } = media as Json;
  if (id === undefined) return rest;
  const { link: _link, ...others } = rest;
  return { ...others, id: pick % 2 === 0 ? own.media[String(type)] : PLATFORM_ID };
}

function templateOf(made: Json, own: Tenant, pick: number): Json {
  // Of the others only the form is right.
  if (pick % 4 === 0) return made;
  const parameters = ['Ana', '4711'].map((text) => ({ type: 'text', text }));
  return { name: own.template, language: { code: 'en_US' }, components: [{ type: 'body', parameters }] };
}
