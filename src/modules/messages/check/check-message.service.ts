import { Injectable } from '@nestjs/common';
import { databaseClock } from '../../../common/clock.js';
import { AppError, type ErrorKind } from '../../../common/app-error.js';
import type { Caller } from '../../keys/caller.decorator.js';
import { errorFields } from '../../../infrastructure/http/error.filter.js';
import { Database } from '../../../infrastructure/database/database.js';
import { PublicUrl } from '../../../infrastructure/http/public-url.js';
import { BillingService } from '../../billing/billing.service.js';
import { LimitBook, limitReached } from '../../billing/limits.service.js';
import { shownLimit } from '../../billing/limits.types.js';
import { ConnectionsService } from '../../connections/connections.service.js';
import { endpointOf, type Connection } from '../../connections/connections.types.js';
import { TemplatesService, type ShownTemplate } from '../../templates/templates.service.js';
import { BacklogGuard, kindsOf } from '../accept/backlog-guard.js';
import { ContentPreparation } from '../accept/content-preparation.js';
import { countedMessage } from '../accept/counted-messages.js';
import type { MessageInput } from '../accept/message-input.js';
import { isUserId } from '../../conversations/contacts/recipient.types.js';
import { requireTimeAhead } from '../accept/schedule.js';
import { requireNoOptOut, SendPreparation, type Sender } from '../accept/send-preparation.js';
import type { MessageContent, TemplateContent } from '../accept/variants/variant.js';
import { ownerOf, UNKNOWN_OWNER } from '../../conversations/control/owner.types.js';
import { windowClosesAt } from '../../conversations/windows/windows.types.js';
import { OptOutsService } from '../../opt-outs/opt-outs.service.js';
import { ContactsService } from '../../conversations/contacts/contacts.service.js';
import { windowClosed } from '../../conversations/windows/recipients.service.js';
import type { MessageCheck, RenderedMessageResponse } from '../dto/check-message.js';
import { messagesErrors } from '../messages.errors.js';
import { MessagesRepository } from '../messages.repository.js';
import { SendingService } from '../../sending/sending.service.js';
import type { QueueEstimate } from '../../sending/sending.types.js';
import { NOTHING_RENDERED, renderContent } from './rendering.js';
import { warningsOf } from './warnings.js';

export type CheckingCaller = Sender & Pick<Caller, 'scopes'>;

/** Kinds of errors that mean a refusal; with any other error the outcome is unknown. */
const REFUSALS: ReadonlySet<ErrorKind> = new Set<ErrorKind>([
  'payment_required',
  'conflict',
  'unprocessable',
  'rate_limited',
]);

/** Says what POST /messages would do with a body, without doing it. */
@Injectable()
export class CheckMessageService {
  constructor(
    private readonly preparation: SendPreparation,
    private readonly contents: ContentPreparation,
    private readonly connections: ConnectionsService,
    private readonly contacts: ContactsService,
    private readonly messages: MessagesRepository,
    private readonly templates: TemplatesService,
    private readonly backlog: BacklogGuard,
    private readonly sending: SendingService,
    private readonly billing: BillingService,
    private readonly optOuts: OptOutsService,
    private readonly database: Database,
    private readonly publicUrl: PublicUrl,
  ) {}

  /**
   * @throws PLATFORM_UNAVAILABLE (502), PLATFORM_TIMEOUT (504) or PLATFORM_REJECTED (400), where the number can send
   * but the account's templates were never read.
   */
  async check(sender: CheckingCaller, request: MessageInput): Promise<MessageCheck> {
    const { organizationId } = sender;
    const problems: AppError[] = [];
    const passes = async <T>(step: () => T | Promise<T>): Promise<T | null> => {
      try {
        return await step();
      } catch (error) {
        if (!(error instanceof AppError) || !REFUSALS.has(error.kind)) throw error;
        problems.push(error);
        return null;
      }
    };
    const addressed = await passes(() => this.preparation.addressed(organizationId, request));
    const input = addressed ?? request;
    await passes(() => requireTimeAhead(input.sendAt));
    await passes(() => this.billing.requireApiTime(organizationId, sender.apiPaidUntil));
    await passes(() => kindsOf(input).map((kind) => this.backlog.requireRoom(organizationId, kind, 1)));
    const known = addressed !== null;
    const ready = known
      ? await passes(() => this.preparation.readyConnection(organizationId, input.connectionId))
      : null;
    const connection = ready ?? (known ? await this.connections.find(organizationId, input.connectionId) : null);
    const mayRead = sender.scopes.has('messages:read');
    if (connection === null) {
      const nothing = mayRead
        ? {
            conversation_id: null,
            window: { open: false, closes_at: null },
            owner: 'unknown' as const,
            owner_role: null,
          }
        : {};
      return this.checkedOf(problems, { rendered: renderedOf(input, input, null), ...nothing });
    }

    const conversation = await this.contacts.find(connection.id, input.recipient);
    const lastInboundAt = conversation?.lastInboundAt ?? null;
    const closesAt = windowClosesAt(lastInboundAt);
    const window = { open: closesAt !== null && closesAt.getTime() > databaseClock.now(), closesAt };
    if (input.type !== 'template' && !window.open) {
      problems.push(windowClosed(lastInboundAt));
    }
    const replaced = conversation?.replaced ?? null;
    const recipient = replaced === null ? input.recipient : (replaced.phone ?? replaced.userId ?? input.recipient);
    if (replaced !== null && (replaced.phone ?? replaced.userId) === null) {
      problems.push(messagesErrors.RECIPIENT_REPLACED(replaced.previous));
    }
    const { owner, role } = conversation === null ? UNKNOWN_OWNER : ownerOf(conversation);
    const conversationId = conversation?.id ?? null;
    const { replyToMessageId: answered } = input;
    if (answered !== null && !(await this.messages.canBeAnswered(organizationId, answered, conversationId))) {
      problems.push(messagesErrors.REPLY_TARGET_NOT_FOUND());
    }
    const prepared = await passes(() => this.contents.prepare(connection, input, isUserId(input.recipient))).catch(
      (error: unknown) => {
        // This number cannot send, so POST /messages would not make this query either.
        if (ready === null && error instanceof AppError) return null;
        throw error;
      },
    );
    const target = { organizationId, connectionId: connection.id, recipient, conversationId };
    const [optOuts] = await this.optOuts.find([target]);
    await passes(() => requireNoOptOut(prepared ?? input, optOuts));
    const { states, refusal } = await this.limitsOf(sender, input, prepared?.templateCategory);
    if (refusal !== null) problems.push(limitReached(refusal));
    const template = input.type === 'template' ? await this.shown(connection, prepared ?? input) : null;
    const queue = later(
      input,
      await this.sending.estimate({
        ...target,
        recipientUserId: isUserId(recipient) ? recipient : null,
      }),
    );
    const lastFailure =
      conversationId === null || !mayRead ? null : await this.messages.lastFailure(organizationId, conversationId);
    return this.checkedOf(problems, {
      warnings: warningsOf({ input, connection, template, window, owner, queue, lastFailure }, mayRead),
      rendered: renderedOf(input, prepared ?? input, template),
      ...(mayRead && {
        conversation_id: conversationId,
        window: { open: window.open, closes_at: closesAt?.toISOString() ?? null },
        owner,
        owner_role: role,
      }),
      endpoint: endpointOf(connection, template?.category ?? null),
      queue: { ahead: queue.ahead, estimated_send_at: queue.estimatedSendAt?.toISOString() ?? null },
      limits: states.map(({ kind, ...state }) => ({ kind, ...shownLimit(state) })),
    });
  }

  private async limitsOf(
    { limited, organizationId }: Sender,
    { connectionId, recipient }: MessageInput,
    templateCategory: string | undefined,
  ): ReturnType<typeof LimitBook.look> {
    if (!limited) return { states: [], refusal: null };
    const message = { id: '', organizationId, connectionId, recipient, templateCategory };
    return LimitBook.look(await countedMessage(message, this.database), this.database);
  }

  /** @param found without the contact and the queue where the number is not known. */
  private checkedOf(
    problems: readonly AppError[],
    { rendered, ...found }: Pick<MessageCheck, 'rendered'> & Partial<MessageCheck>,
  ): MessageCheck {
    return {
      sendable: problems.length === 0,
      problems: problems.map((problem) => errorFields(problem, this.publicUrl.value)),
      warnings: [],
      rendered,
      queue: { ahead: 0, estimated_send_at: null },
      limits: [],
      ...found,
    };
  }

  private shown(connection: Connection, { content }: MessageContent): Promise<ShownTemplate | null> {
    const { name, language, components, parameters } = content as unknown as TemplateContent;
    return this.templates.shown(connection, name, language.code, components ?? parameters ?? []);
  }
}

function renderedOf(
  input: MessageInput,
  prepared: MessageContent,
  template: ShownTemplate | null,
): RenderedMessageResponse {
  if (input.type !== 'template') return renderContent(prepared.type, prepared.content, prepared.body);
  if (template === null) return NOTHING_RENDERED;
  const { header, body, footer, buttons } = template.preview;
  return { header, body, footer, buttons };
}

/** A message for later has no waiting message before it. */
function later({ sendAt }: MessageInput, estimate: QueueEstimate | null): QueueEstimate {
  if (estimate === null) return { ahead: 0, estimatedSendAt: null };
  if (sendAt === undefined || estimate.estimatedSendAt === null) return estimate;
  return { ahead: 0, estimatedSendAt: new Date(Math.max(Date.parse(sendAt), estimate.estimatedSendAt.getTime())) };
}
