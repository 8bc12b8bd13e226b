import { Injectable } from '@nestjs/common';
import { databaseClock } from '../../../common/clock.js';
import { AppError } from '../../../common/app-error.js';
import { Database } from '../../../infrastructure/database/database.js';
import { CloudApiClient } from '../../../infrastructure/whatsapp/cloud-api-client.js';
import {
  isTokenRefused,
  platformError,
  type PlatformFailure,
} from '../../../infrastructure/whatsapp/platform-result.js';
import { BillingService } from '../../billing/billing.service.js';
import { ConnectionsService } from '../../connections/connections.service.js';
import { WebhookService } from '../../webhook/webhook.service.js';
import { conversationsErrors } from '../conversations.errors.js';
import { ConversationsRepository } from '../conversations.repository.js';
import { ConversationsService } from '../conversations.service.js';
import type { ControlAction, ControlRequest, ConversationResponse } from '../dto/conversations.dto.js';
import type { Owner } from './owner.types.js';

/** This app is not the escalation partner, or does not own the conversation. */
const NOT_ALLOWED = new Set([2_494_191, 131_070]);

const OWNER_AFTER: Readonly<Record<ControlAction, Owner>> = { pass: 'other', release: 'unknown', take: 'you' };

/** Changes the owner of a conversation, at WhatsApp and then here. */
@Injectable()
export class ConversationControlService {
  constructor(
    private readonly conversations: ConversationsService,
    private readonly rows: ConversationsRepository,
    private readonly connections: ConnectionsService,
    private readonly billing: BillingService,
    private readonly client: CloudApiClient,
    private readonly webhook: WebhookService,
    private readonly database: Database,
  ) {}

  /**
   * @throws CONVERSATION_NOT_FOUND (404), SUBSCRIPTION_REQUIRED (402), CONNECTION_NOT_READY (409), CONTROL_NOT_ALLOWED
   * (409), PLATFORM_REJECTED (400), RATE_LIMITED (429) where the platform takes no more calls; PLATFORM_UNAVAILABLE
   * (502), PLATFORM_TIMEOUT (504): it may still have changed.
   */
  async change(
    { organizationId, apiPaidUntil }: { organizationId: string; apiPaidUntil: Date | null },
    id: string,
    { action, role, note }: ControlRequest,
  ): Promise<ConversationResponse> {
    const { id: conversationId, connection_id, contact } = await this.conversations.getById(organizationId, id);
    await this.billing.requireApiTime(organizationId, apiPaidUntil);
    await this.connections.getReady(organizationId, connection_id);
    const connection = await this.connections.sendable(organizationId, connection_id);
    // WhatsApp's notifications have whole seconds: reports about this second or later are newer.
    const at = new Date(Math.floor(databaseClock.now() / 1_000) * 1_000);
    const answer = await this.client.request({
      method: 'POST',
      path: `/${encodeURIComponent(connection.phoneNumberId)}/thread_control`,
      token: connection.token,
      json: {
        messaging_product: 'whatsapp',
        ...(contact.phone === null ? { recipient: contact.user_id } : { to: `+${contact.phone}` }),
        action,
        metadata: note,
        control_pass: role === undefined ? undefined : { target_role: role },
      },
    });
    if (!answer.ok) {
      if (isTokenRefused(answer)) await this.connections.requireOtherToken(connection);
      throw controlError(answer);
    }
    const handover = {
      at,
      isOurs: true as const,
      owner: OWNER_AFTER[action],
      role: role ?? null,
      note: note ?? null,
      context: null,
    };
    await this.database.transaction(() =>
      this.rows.enterAll(
        [{ organizationId, connectionId: connection_id, conversationId, handover }],
        [],
        this.database,
      ),
    );
    this.webhook.wake([organizationId]);
    return this.conversations.getById(organizationId, conversationId);
  }
}

function controlError(failure: PlatformFailure): AppError {
  const { kind, code, subcode } = failure;
  if (kind === 'rejected') {
    const isForbidden = NOT_ALLOWED.has(code ?? 0) || NOT_ALLOWED.has(subcode ?? 0);
    return isForbidden ? conversationsErrors.CONTROL_NOT_ALLOWED(failure) : platformError(failure);
  }
  const error = platformError(failure);
  const cause = kind === 'timeout' ? 'did not answer in time' : 'could not be reached or gave no clear answer';
  const message = `The messaging platform ${cause}; the owner may still have changed: its next notification says so.`;
  return new AppError({ kind: error.kind, code: error.code, message, internal: failure.message, extra: {} });
}
