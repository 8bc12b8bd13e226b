import { GraphError } from '../graph-error.js';
import type { Collection } from '../state/state-store.js';
import { templateError } from './template-error.js';
import type { Template } from './template.types.js';

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** How long the name of a deleted, approved template stays blocked, and how far back edits count. */
const MONTH_MS = 30 * DAY_MS;
const EDITS_PER_DAY = 1;
const EDITS_PER_MONTH = 10;

export interface TemplateLimitOptions {
  /** Every language counts. */
  perAccount: number;
  creationsPerHour: number;
}

/** How often accounts may create and edit, and which names they may not use yet. */
export class TemplateLimits {
  constructor(
    private readonly creations: Collection<number[]>,
    private readonly blocked: Collection<number>,
    private readonly options: TemplateLimitOptions,
  ) {}

  get perAccount(): number {
    return this.options.perAccount;
  }

  /** @throws GraphError 80007, or 100 with 2388019 or 2388023 */
  checkCreation(wabaId: string, name: string, language: string, existing: number, nowMs: number): void {
    if (this.recentCreations(wabaId, nowMs).length >= this.options.creationsPerHour) {
      throw new GraphError(80007, {
        message:
          '(#80007) There have been too many calls to this WhatsApp Business account. Wait a bit and try again. ' +
          `At most ${this.options.creationsPerHour} templates can be created in an hour.`,
      });
    }
    if ((this.blocked.get(keyOf(wabaId, name, language)) ?? 0) > nowMs) {
      throw templateError(
        2388023,
        'Message Template Language Is Being Deleted',
        `New ${language} content can't be added to ${name} while its former content is being deleted. Try again in 4 ` +
          'weeks or consider creating a new message template.',
      );
    }
    if (existing >= this.options.perAccount) {
      const rule = `This WhatsApp Business account has ${existing} message templates, which is the limit.`;
      throw templateError(2388019, 'Message Template Limit Exceeded', rule);
    }
  }

  noteCreation(wabaId: string, nowMs: number): void {
    this.creations.set(wabaId, [...this.recentCreations(wabaId, nowMs), nowMs]);
  }

  /** A deleted template's name can't be used again for 30 days. */
  block({ wabaId, name, language }: Template, nowMs: number): void {
    this.blocked.set(keyOf(wabaId, name, language), nowMs + MONTH_MS);
  }

  /** @throws GraphError 100 with 2388039 once an approved template has been edited too often */
  checkEdit(template: Template, nowMs: number): void {
    const edits = template.edits ?? [];
    const since = (ms: number) => edits.filter((at) => nowMs - at < ms).length;
    if (since(DAY_MS) >= EDITS_PER_DAY || since(MONTH_MS) >= EDITS_PER_MONTH) {
      throw templateError(
        2388039,
        "Message Template Can't Be Edited",
        'An approved message template can be edited once in 24 hours and 10 times in 30 days.',
      );
    }
  }

  /** The template's edits that still count, with one more. */
  editsWith(template: Template, nowMs: number): number[] {
    return [...(template.edits ?? []).filter((at) => nowMs - at < MONTH_MS), nowMs];
  }

  /** Forgets creations and blocked names. */
  clear(): void {
    this.creations.clear();
    this.blocked.clear();
  }

  private recentCreations(wabaId: string, nowMs: number): number[] {
    return (this.creations.get(wabaId) ?? []).filter((at) => nowMs - at < HOUR_MS);
  }
}

function keyOf(wabaId: string, name: string, language: string): string {
  return `${wabaId} ${language} ${name}`;
}
