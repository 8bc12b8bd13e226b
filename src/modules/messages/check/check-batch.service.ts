import { Injectable } from '@nestjs/common';
import type { ErrorDetail } from '../../../common/app-error.js';
import { mapAtOnce } from '../../../common/map-at-once.js';
import { errorFields } from '../../../infrastructure/http/error.filter.js';
import { PublicUrl } from '../../../infrastructure/http/public-url.js';
import { AcceptRepository } from '../accept/accept.repository.js';
import { readEntries } from '../accept/send-batch.service.js';
import type { BatchCheckResponse, BatchWarning } from '../dto/check-batch.js';
import { type BatchError, messagesErrors } from '../messages.errors.js';
import { CheckMessageService, type CheckingCaller } from './check-message.service.js';

/** Messages of one batch that are checked at the same time; each check makes a few queries. */
const CHECKED_AT_ONCE = 8;

/** Says what POST /messages/batch would do with each message of a batch, without doing it. */
@Injectable()
export class CheckBatchService {
  constructor(
    private readonly accepts: AcceptRepository,
    private readonly checks: CheckMessageService,
    private readonly publicUrl: PublicUrl,
  ) {}

  /** @throws as `CheckMessageService.check`. */
  async check(sender: CheckingCaller, messages: readonly Buffer[]): Promise<BatchCheckResponse> {
    const entries = await readEntries(messages);
    const keys = entries.flatMap(({ request }) => (request === null ? [] : [request.idempotencyKey]));
    const known = keys.length === 0 ? new Map() : await this.accepts.findByKeys(sender.organizationId, keys);
    const replayed: { index: number; id: string }[] = [];
    const errors: BatchError[] = [];
    const warnings: BatchWarning[] = [];
    await mapAtOnce(entries, CHECKED_AT_ONCE, async ({ index, request, error }) => {
      if (request === null) {
        if (error !== null) errors.push(this.errorOf(index, errorFields(error, this.publicUrl.value)));
        return;
      }
      const first = known.get(request.idempotencyKey);
      if (first !== undefined && first.fingerprint === request.fingerprint) {
        replayed.push({ index, id: first.messageId });
      } else if (first !== undefined) {
        const reused = messagesErrors.IDEMPOTENCY_KEY_REUSED();
        errors.push(this.errorOf(index, errorFields(reused, this.publicUrl.value)));
      } else {
        const checked = await this.checks.check(sender, request.input);
        errors.push(...checked.problems.map((problem) => this.errorOf(index, problem)));
        warnings.push(...checked.warnings.map((warning) => ({ index, ...warning })));
      }
    });
    const inOrder = (a: { index: number }, b: { index: number }): number => a.index - b.index;
    const refused = new Set(errors.map(({ index }) => index)).size;
    return {
      data: { messages: entries.length, sendable: entries.length - refused - replayed.length },
      replayed: replayed.sort(inOrder),
      errors: errors.sort(inOrder),
      warnings: warnings.sort(inOrder),
    };
  }

  private errorOf(index: number, fields: ReturnType<typeof errorFields>): BatchError {
    const { code, message, details = [], ...others } = fields;
    return { index, code, message, details: details as ErrorDetail[], ...others };
  }
}
