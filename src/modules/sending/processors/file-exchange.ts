import type { Deadline } from '../../../common/deadline.js';
import { Injectable, Logger } from '@nestjs/common';
import { isUuid } from '../../../common/ids.js';
import type { NotAcceptedOutcome, SendOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import type { SendingConnection } from '../../connections/connections.types.js';
import { MediaTransferService } from '../../media/media-transfer.service.js';
import { changeFiles, ownFilesIn } from '../../message-state/file-references.types.js';
import { refusal } from '../outcome/outcome.repository.js';
import type { ClaimedMessage } from '../claim/claim.repository.js';

/** WhatsApp's ids of a message's files, by Herald's ids. */
type PlatformIds = ReadonlyMap<string, string>;

/**
 * `ready`: `content` has WhatsApp's ids. `later`: nothing was sent, and the message waits. `refused`: nothing was sent,
 * and `outcome` is that of the message.
 */
export type Exchanged =
  | { kind: 'ready'; content: Record<string, unknown>; ids: PlatformIds }
  | { kind: 'later'; delayMs: number }
  | { kind: 'refused'; outcome: NotAcceptedOutcome };

/** Codes with which WhatsApp refuses a parameter or a file; only the error text tells which. */
const CODES_ABOUT_FILES: ReadonlySet<number> = new Set([100, 131009, 131052, 131053]);
/** The wait for an upload grows with each try, so that an upload which never ends costs little. */
const WAIT_STEP_MS = 500;
const MAX_WAIT_MS = 60_000;

/** Replaces Herald's file ids in a message with WhatsApp's. Those come from an upload at first use, and may expire. */
@Injectable()
export class FileExchange {
  private readonly logger = new Logger(FileExchange.name);

  constructor(private readonly transfer: MediaTransferService) {}

  /** @param notAfter bounds the wait for uploads. */
  async exchange(
    connection: SendingConnection,
    { type, content, attemptNumber }: Pick<ClaimedMessage, 'type' | 'content' | 'attemptNumber'>,
    notAfter: Deadline,
  ): Promise<Exchanged> {
    const ownIds = [...new Set(ownFilesIn(type, content).map(({ id }) => id))];
    const answers = await Promise.all(
      ownIds.map(async (id) => [id, await this.transfer.platformIdFor(connection, id, notAfter)] as const),
    );
    const ids = new Map<string, string>();
    let delayMs = 0;
    for (const [id, answer] of answers) {
      if (answer.kind === 'account') return { kind: 'refused', outcome: answer.outcome };
      if (answer.kind === 'failed') return { kind: 'refused', outcome: refusal('media_error', answer.message) };
      if (answer.kind === 'ready') ids.set(id, answer.platformMediaId);
      else delayMs = Math.max(delayMs, answer.retryInMs, 1);
    }
    if (delayMs > 0) {
      const waitMs = Math.min(attemptNumber * WAIT_STEP_MS, MAX_WAIT_MS);
      return { kind: 'later', delayMs: Math.max(delayMs, waitMs) };
    }
    const exchanged = changeFiles(type, content, (file) => {
      const platformId = isUuid(file.id) ? ids.get(file.id.toLowerCase()) : undefined;
      return platformId === undefined ? file : { ...file, id: platformId };
    });
    return { kind: 'ready', content: exchanged, ids };
  }

  /** Whether the platform refused a message explicitly for one of its files. */
  isRefused(outcome: SendOutcome, ids: PlatformIds): boolean {
    if (outcome.kind !== 'rejected' || !CODES_ABOUT_FILES.has(outcome.platformCode ?? 0)) return false;
    const words = outcome.platformMessage ?? '';
    return /\bmedia\b/i.test(words) || [...ids.values()].some((id) => words.includes(id));
  }

  /** The next exchange uploads these files again. */
  async forget(connection: SendingConnection, ids: PlatformIds): Promise<void> {
    try {
      await Promise.all(
        [...ids].map(([id, platformMediaId]) => this.transfer.forget(connection.id, id, platformMediaId)),
      );
    } catch (error) {
      this.logger.warn(`an id that the platform refuses could not be forgotten: ${String(error)}`);
    }
  }
}
