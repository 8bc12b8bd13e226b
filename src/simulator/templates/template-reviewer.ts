import type { Template, TemplateStatus } from './template.types.js';
import type { TemplateStore } from './template-store.js';
import { hasAdjacentVariables } from './template-text.js';

/** The longest that a timer may be set for; a due time beyond it is looked at again then. */
const LONGEST_TIMER_MS = 60_000;

/** What a notification says about a new status, beside the template itself. */
export interface ReviewDetails {
  /** Null where the template is scheduled for deletion. */
  reason: string | null;
  rejectionInfo?: object;
  disableInfo?: object;
  otherInfo?: object;
  /** `entry.time`, seconds; now by default. */
  time?: number;
  /** False changes the status in silence. */
  notify?: boolean;
}

export interface TemplateReviewerOptions {
  /** How long a review takes; null leaves every template PENDING until a control call decides. */
  reviewMs: number | null;
  /** Announces what was decided. */
  onDecided: (template: Template, event: string, details: ReviewDetails) => void;
}

/** Events that are no status: what the template is afterwards. */
const STATUS_OF_EVENT: Readonly<Record<string, TemplateStatus>> = { REINSTATED: 'APPROVED', UNARCHIVED: 'APPROVED' };

/**
 * Where templates are decided on. A new one is approved after a moment; one that says `reject_me`, in its name or its
 * body, or has two variables side by side, is rejected; one whose name says `hold_me` waits for a control call.
 */
export class TemplateReviewer {
  private readonly timers = new Map<string, NodeJS.Timeout>();

  constructor(
    private readonly store: TemplateStore,
    private readonly options: TemplateReviewerOptions,
  ) {}

  /** Takes up what a former run left undecided. */
  start(): void {
    for (const template of this.store.all()) this.watch(template);
  }

  stop(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    this.timers.clear();
  }

  /** The template with the time of its review, to be stored and then handed to {@link watch}. */
  submitted(template: Template, nowMs: number): Template {
    const { dueAt: _, ...rest } = template;
    const { reviewMs } = this.options;
    const held = reviewMs === null || template.name.includes('hold_me');
    return { ...rest, status: 'PENDING', rejectedReason: 'NONE', ...(held ? {} : { dueAt: nowMs + reviewMs }) };
  }

  /** Decides on the template, or lets go of it, when its time has come. */
  watch(template: Template): void {
    const { id, dueAt } = template;
    clearTimeout(this.timers.get(id));
    this.timers.delete(id);
    if (dueAt === undefined) return;
    const wait = Math.min(Math.max(dueAt - Date.now(), 0), LONGEST_TIMER_MS);
    const timer = setTimeout(() => {
      this.timers.delete(id);
      const current = this.store.get(id);
      if (current?.dueAt === undefined) return;
      if (current.dueAt > Date.now()) this.watch(current);
      else this.due(current);
    }, wait);
    timer.unref();
    this.timers.set(id, timer);
  }

  /** Marks a template for deletion: it is listed for a moment longer, and then gone. */
  scheduleDeletion(template: Template, nowMs: number): void {
    const leaving: Template = { ...template, status: 'PENDING_DELETION', dueAt: nowMs + (this.options.reviewMs ?? 0) };
    this.store.put({ ...leaving, updatedAt: nowMs });
    this.watch(leaving);
    this.options.onDecided(leaving, 'PENDING_DELETION', { reason: null });
  }

  remove(template: Template): void {
    this.watch({ ...template, dueAt: undefined });
    this.store.remove(template.id);
  }

  /** Gives a template the status that an event stands for, and announces it. */
  decide(template: Template, event: string, details: ReviewDetails): void {
    const { dueAt: _, ...rest } = template;
    const status = STATUS_OF_EVENT[event] ?? (event as TemplateStatus);
    const rejectedReason = event === 'REJECTED' ? (details.reason ?? 'NONE') : 'NONE';
    const decided: Template = { ...rest, status, rejectedReason, updatedAt: Date.now() };
    if (status === 'DELETED') this.remove(template);
    else this.store.put(decided);
    this.watch(decided);
    if (details.notify ?? true) this.options.onDecided(decided, event, details);
  }

  private due(template: Template): void {
    if (template.status === 'PENDING_DELETION') {
      this.remove(template);
      return;
    }
    const reason = faultOf(template);
    if (reason === null) this.decide(template, 'APPROVED', { reason: 'NONE' });
    else this.decide(template, 'REJECTED', { reason, rejectionInfo: REJECTION_INFO });
  }
}

const REJECTION_INFO = {
  reason: 'The simulator rejects templates that say reject_me, and those with two variables side by side.',
  recommendation: 'Change the template and send it in again.',
};

function faultOf({ name, components }: Template): string | null {
  const body = components.find(({ type }) => type === 'BODY')?.text ?? '';
  return name.includes('reject_me') || body.includes('reject_me') || hasAdjacentVariables(body)
    ? 'INVALID_FORMAT'
    : null;
}
