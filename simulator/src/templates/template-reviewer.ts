import { hasAdjacentVariables } from './component-checks.js';
import {
  componentOf,
  type QualityScore,
  type ReviewEvent,
  type Template,
  type TemplateCategory,
  type TemplateStore,
} from './template-store.js';

/** Maximum of a timer; later due times are checked again then. */
const MAX_TIMER_MS = 60_000;

/** Further fields of a notification about a new status. */
interface ReviewDetails {
  /** Null where the template is scheduled for deletion. */
  reason: string | null;
  rejection_info?: object;
  disable_info?: object;
  other_info?: object;
}

/** Posts a change of a management field. */
type NotifyAccount = (wabaId: string, field: string, value: object, timeSeconds?: number) => void;

/**
 * Reviews templates. A new one is approved after a moment; one with `reject_me` in its name or body, or with two
 * adjacent variables, is rejected; one with `hold_me` in its name waits for a control call. Ids of templates are
 * numbers in notifications, and text in answers.
 */
export class TemplateReviewer {
  private isStopped = false;
  private notified = 0;

  /** @param reviewMs how long a review takes; null leaves every template PENDING until a control call decides */
  constructor(
    private readonly store: TemplateStore,
    private readonly notify: NotifyAccount,
    private readonly reviewMs: number | null,
  ) {}

  /** Continues reviews that an earlier run left undecided. */
  start(): void {
    for (const template of this.store.all()) this.watch(template);
  }

  stop(): void {
    this.isStopped = true;
  }

  /** Stores the template, new or edited, and decides about it later. */
  submit(template: Template, nowMs: number): void {
    const { reviewMs } = this;
    const held = reviewMs === null || template.name.includes('hold_me');
    this.put({ ...template, status: 'PENDING', rejectedReason: 'NONE', dueAt: held ? undefined : nowMs + reviewMs });
  }

  /** Marks a template for deletion: it is listed for a moment longer, and then deleted. */
  scheduleDeletion(template: Template, nowMs: number): void {
    const dueAt = nowMs + (this.reviewMs ?? 0);
    const leaving: Template = { ...template, status: 'PENDING_DELETION', dueAt, updatedAt: nowMs };
    this.put(leaving);
    this.announceStatus(leaving, 'PENDING_DELETION', { reason: null });
  }

  /** Sets the template's status from an event. @returns the remaining step: announcing it */
  decide(template: Template, event: ReviewEvent, details: ReviewDetails): (time?: number) => void {
    const status = event === 'REINSTATED' || event === 'UNARCHIVED' ? 'APPROVED' : event;
    const rejectedReason = event === 'REJECTED' ? (details.reason ?? 'NONE') : 'NONE';
    const decided: Template = { ...template, status, rejectedReason, updatedAt: Date.now(), dueAt: undefined };
    if (status === 'DELETED') this.store.remove(template.id);
    else this.store.put(decided);
    return (time) => this.announceStatus(decided, event, details, time);
  }

  private put(template: Template): void {
    this.store.put(template);
    this.watch(template);
  }

  /** Decides about the template, or deletes it, when its time has come. */
  private watch({ id, dueAt }: Template): void {
    if (dueAt === undefined) return;
    const wait = Math.min(Math.max(dueAt - Date.now(), 0), MAX_TIMER_MS);
    setTimeout(() => {
      // It may be decided, edited or deleted by now.
      const current = this.store.get(id);
      if (this.isStopped || current?.dueAt === undefined) return;
      if (current.dueAt > Date.now()) this.watch(current);
      else this.due(current);
    }, wait).unref();
  }

  private due(template: Template): void {
    const reason = reasonAgainst(template);
    if (template.status === 'PENDING_DELETION') this.store.remove(template.id);
    else if (reason === null) this.decide(template, 'APPROVED', { reason: 'NONE' })();
    else this.decide(template, 'REJECTED', { reason, rejection_info: REJECTION_INFO })();
  }

  private announceStatus(template: Template, event: string, details: ReviewDetails, time?: number): void {
    const facts = { event, ...this.identity(template), message_template_category: template.category };
    this.notify(template.wabaId, 'message_template_status_update', { ...facts, ...details }, time);
  }

  announceQuality(template: Template, previous: QualityScore, time?: number): void {
    const scores = { previous_quality_score: previous, new_quality_score: template.qualityScore };
    this.notify(template.wabaId, 'message_template_quality_update', { ...scores, ...this.identity(template) }, time);
  }

  /** @param announced the category that applies in 24 hours; undefined where it has already changed */
  announceCategory(template: Template, previous: TemplateCategory, announced?: TemplateCategory, time?: number): void {
    const categories =
      announced === undefined
        ? { previous_category: previous, new_category: template.category }
        : { new_category: template.category, correct_category: announced, category_update_timestamp: inADay(time) };
    this.notify(template.wabaId, 'template_category_update', { ...this.identity(template), ...categories }, time);
  }

  announceComponents(template: Template, time?: number): void {
    const find = (type: string) => componentOf(template.components, type);
    const value = {
      ...this.identity(template),
      message_template_title: find('HEADER')?.text,
      message_template_element: find('BODY')?.text ?? '',
      message_template_footer: find('FOOTER')?.text,
      message_template_buttons: find('BUTTONS')?.buttons?.map((button) => ({
        message_template_button_type: button.type,
        message_template_button_text: button.text,
        message_template_button_url: button.url,
        message_template_button_phone_number: button.phone_number,
      })),
    };
    this.notify(template.wabaId, 'message_template_components_update', value, time);
  }

  /** Every third notification has a hyphen in the language code, as WhatsApp sometimes does. */
  private identity({ id, name, language }: Template): object {
    const hyphen = ++this.notified % 3 === 0;
    const number = Number(id);
    return {
      message_template_id: Number.isSafeInteger(number) ? number : id,
      message_template_name: name,
      message_template_language: hyphen ? language.replace('_', '-') : language,
    };
  }
}

/** Seconds. */
function inADay(now = Math.floor(Date.now() / 1000)): number {
  return now + 24 * 60 * 60;
}

const REJECTION_INFO = {
  reason: 'The simulator rejects templates that say reject_me, and those with two variables side by side.',
  recommendation: 'Change the template and send it in again.',
};

function reasonAgainst({ name, components }: Template): string | null {
  const body = componentOf(components, 'BODY')?.text ?? '';
  return name.includes('reject_me') || body.includes('reject_me') || hasAdjacentVariables(body)
    ? 'INVALID_FORMAT'
    : null;
}
