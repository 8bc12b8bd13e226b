import { newId } from '../../src/common/ids.js';
import type { NewMessage } from '../../src/modules/messages/accept/accept.repository.js';

/** A text as it comes to acceptance, with a key and an id of its own. */
export function newMessage(
  connection: { id: string; organizationId: string },
  recipient: string,
  change: Partial<NewMessage> = {},
): NewMessage {
  return {
    id: newId(),
    organizationId: connection.organizationId,
    connectionId: connection.id,
    conversationId: null,
    type: 'text',
    recipient,
    sender: '15550000000',
    body: 'hello',
    content: { body: 'hello' },
    clientMessageId: null,
    replyToMessageId: null,
    mediaObjectId: null,
    idempotencyKey: newId(),
    fingerprint: '00'.repeat(32),
    ...change,
  };
}
