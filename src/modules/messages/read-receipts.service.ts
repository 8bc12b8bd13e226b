import { Injectable } from '@nestjs/common';
import { databaseClock } from '../../common/clock.js';
import { CloudApiClient } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { isTokenRefused, platformError } from '../../infrastructure/whatsapp/platform-result.js';
import { ConnectionsService } from '../connections/connections.service.js';
import { type Sender, SendPreparation } from './accept/send-preparation.js';
import type { ReadMessage } from './dto/read-or-retry.dto.js';
import { messagesErrors } from './messages.errors.js';
import { MessagesRepository } from './messages.repository.js';

/** How long WhatsApp shows that the business is typing. */
const TYPING_MS = 25_000;

/** Marks customers' messages as read at WhatsApp, within the request. */
@Injectable()
export class ReadReceiptsService {
  constructor(
    private readonly messages: MessagesRepository,
    private readonly preparation: SendPreparation,
    private readonly connections: ConnectionsService,
    private readonly client: CloudApiClient,
  ) {}

  /**
   * Repeatable. A message that is already read makes no call, unless typing is requested.
   *
   * @returns when the message was first marked as read, and until when typing is shown, if requested.
   * @throws MESSAGE_NOT_FOUND (404), MESSAGE_NOT_RECEIVED (409), SUBSCRIPTION_REQUIRED (402), CONNECTION_NOT_READY
   * (409), PLATFORM_REJECTED (400), RATE_LIMITED (429) where the platform takes no more calls, PLATFORM_UNAVAILABLE
   * (502), PLATFORM_TIMEOUT (504).
   */
  async markRead(sender: Sender, id: string, typing: boolean): Promise<ReadMessage> {
    const { organizationId } = sender;
    const message = await this.messages.findForReading(organizationId, id);
    if (message?.readAt && !typing) return { id: message.id, read_at: message.readAt, typing_until: null };
    await this.preparation.requirePayment(sender);
    if (message === null) throw messagesErrors.MESSAGE_NOT_FOUND();
    const { connectionId, direction, metaMessageId } = message;
    if (metaMessageId === null) throw messagesErrors.MESSAGE_NOT_RECEIVED({ erased: direction === 'inbound' });
    await this.connections.getReady(organizationId, connectionId);
    const connection = await this.connections.sendable(organizationId, connectionId);
    const answer = await this.client.markAsRead(connection, metaMessageId, typing);
    if (!answer.ok) {
      if (isTokenRefused(answer)) await this.connections.requireOtherToken(connection);
      throw platformError(answer);
    }
    const typing_until = typing ? new Date(databaseClock.now() + TYPING_MS) : null;
    const read_at = message.readAt ?? (await this.messages.markRead(organizationId, message.id));
    return { id: message.id, read_at, typing_until };
  }
}
