import { GraphError } from '../graph-error.js';
import { absent, own, Shape } from '../http/fields.js';
import { isObject } from '../http/param.js';
import { accountHealth, healthOf } from '../numbers/numbers.js';
import type { AllOptions } from '../simulator.types.js';
import type { Store, Table } from '../store.js';

// prettier-ignore
const STATUSES = [
  'APPROVED', 'PENDING', 'REJECTED', 'PAUSED', 'DISABLED', 'IN_APPEAL', 'PENDING_DELETION', 'DELETED', 'FLAGGED',
  'LOCKED', 'LIMIT_EXCEEDED', 'ARCHIVED',
] as const;
type TemplateStatus = (typeof STATUSES)[number];
/** Results of a review; those that are not statuses make it APPROVED again. */
export const REVIEW_EVENTS = [...STATUSES, 'REINSTATED', 'UNARCHIVED'] as const;
export type ReviewEvent = (typeof REVIEW_EVENTS)[number];
export const PARAMETER_FORMATS = ['POSITIONAL', 'NAMED'] as const;
export type ParameterFormat = (typeof PARAMETER_FORMATS)[number];
export const CATEGORIES = ['AUTHENTICATION', 'MARKETING', 'UTILITY'] as const;
export const QUALITY_SCORES = ['GREEN', 'YELLOW', 'RED', 'UNKNOWN'] as const;
export type TemplateCategory = (typeof CATEGORIES)[number];
export type QualityScore = (typeof QUALITY_SCORES)[number];

export interface TemplateButton {
  type: string;
  text?: string;
  url?: string;
  [key: string]: unknown;
}

export interface TemplateComponent {
  type: string;
  format?: string;
  text?: string;
  buttons?: TemplateButton[];
  [key: string]: unknown;
}

/** A message template as the platform stores it, one language of one name. */
export interface Template {
  id: string;
  wabaId: string;
  name: string;
  language: string;
  category: TemplateCategory;
  status: TemplateStatus;
  parameterFormat: ParameterFormat;
  components: TemplateComponent[];
  rejectedReason: string;
  qualityScore: QualityScore;
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
  /** Its category before WhatsApp changed it. */
  previousCategory?: TemplateCategory;
  /** Its announced future category. */
  correctCategory?: TemplateCategory;
  /** How long a message may wait for delivery; absent: WhatsApp's default. */
  messageSendTtlSeconds?: number;
  /** Set if it is based on the library. */
  libraryTemplateName?: string;
  /** When the simulator decides about a PENDING one, or deletes a PENDING_DELETION one; milliseconds. */
  dueAt?: number;
  /** Times of edits while it was approved; milliseconds. */
  edits?: number[];
}

/** The one component of a type; undefined where there is none. */
export function componentOf(components: readonly TemplateComponent[], type: string): TemplateComponent | undefined {
  return components.find((component) => component.type === type);
}

type TemplateName = Pick<Template, 'wabaId' | 'name' | 'language'>;

/** Templates of all accounts, by id and by (account, name, language). */
export class TemplateStore {
  private readonly byName = new Map<string, Template>();

  constructor(private readonly saved: Table<Template>) {
    for (const template of saved.values()) this.byName.set(keyOf(template), template);
  }

  get(id: string): Template | undefined {
    return this.saved.get(id);
  }

  all(): Template[] {
    return [...this.saved.values()];
  }

  find(wabaId: string, name: string, language: string): Template | undefined {
    return this.byName.get(keyOf({ wabaId, name, language }));
  }

  /** Oldest first. */
  ofAccount(wabaId: string): Template[] {
    return this.all()
      .filter((template) => template.wabaId === wabaId)
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  put(template: Template): void {
    this.saved.set(template.id, template);
    this.byName.set(keyOf(template), template);
  }

  remove(id: string): void {
    const template = this.saved.get(id);
    if (template !== undefined && this.byName.get(keyOf(template))?.id === id) this.byName.delete(keyOf(template));
    this.saved.delete(id);
  }
}

/**
 * A refusal of the template calls: code 100 with a subcode, and the text shown to people.
 *
 * @param subcode undefined where WhatsApp's is not published
 */
export function templateError(subcode: number | undefined, userTitle: string, userMessage: string): GraphError {
  return new GraphError(100, { subcode, message: 'Invalid parameter', isTransient: false, userTitle, userMessage });
}

const HOUR_MS = 60 * 60 * 1000;
const DAY_MS = 24 * HOUR_MS;
/** How long the name of a deleted, approved template stays blocked, and the period in which edits count. */
const MONTH_MS = 30 * DAY_MS;
const EDITS_PER_DAY = 1;
const EDITS_PER_MONTH = 10;

/** Limits for creating and editing templates, and names that may not be used yet. */
export class TemplateLimits {
  private readonly creations: Table<number[]>;
  private readonly blocked: Table<number>;

  constructor(
    store: Store,
    private readonly options: AllOptions,
  ) {
    this.creations = store.table('template_creations');
    this.blocked = store.table('blocked_template_names');
  }

  /** @throws GraphError 80007, or 100 with 2388019 or 2388023 for one creation too many; others are counted */
  noteCreation({ wabaId, name, language }: TemplateName, existing: number, nowMs: number): void {
    const recent = (this.creations.get(wabaId) ?? []).filter((at) => nowMs - at < HOUR_MS);
    if (recent.length >= this.options.templateCreationsPerHour) {
      throw new GraphError(80007, {
        message:
          '(#80007) There have been too many calls to this WhatsApp Business account. Wait a bit and try again. ' +
          `At most ${this.options.templateCreationsPerHour} templates can be created in an hour.`,
      });
    }
    if ((this.blocked.get(keyOf({ wabaId, name, language })) ?? 0) > nowMs) {
      throw templateError(
        2388023,
        'Message Template Language Is Being Deleted',
        `New ${language} content can't be added to ${name} while its former content is being deleted. Try again in 4 ` +
          'weeks or consider creating a new message template.',
      );
    }
    if (existing >= this.options.templatesPerAccount) {
      const rule = `This WhatsApp Business account has ${existing} message templates, which is the limit.`;
      throw templateError(2388019, 'Message Template Limit Exceeded', rule);
    }
    this.creations.set(wabaId, [...recent, nowMs]);
  }

  /** A deleted template's name can't be used again for 30 days. */
  block(template: Template, nowMs: number): void {
    this.blocked.set(keyOf(template), nowMs + MONTH_MS);
  }

  /** The counted edits, with one more. @throws GraphError 100 with 2388039 after too many */
  editsWith({ edits = [] }: Template, nowMs: number): number[] {
    const since = (ms: number) => edits.filter((at) => nowMs - at < ms);
    if (since(DAY_MS).length >= EDITS_PER_DAY || since(MONTH_MS).length >= EDITS_PER_MONTH) {
      throw templateError(
        2388039,
        "Message Template Can't Be Edited",
        'An approved message template can be edited once in 24 hours and 10 times in 30 days.',
      );
    }
    return [...since(MONTH_MS), nowMs];
  }
}

function keyOf({ wabaId, name, language }: TemplateName): string {
  return `${wabaId} ${language} ${name}`;
}

/** Templates, with every requestable field. */
export const TEMPLATES = new Shape<Template>(
  'WhatsAppMessageTemplate',
  {
    ...own('id', 'name', 'language', 'status', 'category'),
    previous_category: (template) => template.previousCategory,
    correct_category: (template) => template.correctCategory,
    parameter_format: (template) => template.parameterFormat,
    components: (template) => template.components.map((component) => shown(template, component)),
    rejected_reason: (template) => template.rejectedReason,
    quality_score: (template) => ({ score: template.qualityScore, date: Math.floor(template.updatedAt / 1000) }),
    message_send_ttl_seconds: (template) => template.messageSendTtlSeconds,
    library_template_name: (template) => template.libraryTemplateName,
    cta_url_link_tracking_opted_out: () => false,
    health_status: ({ id, wabaId, status }) =>
      healthOf([['MESSAGE_TEMPLATE', id, status === 'APPROVED' ? 'AVAILABLE' : 'BLOCKED'], ...accountHealth(wabaId)]),
    source: () => 'DEVELOPER',
    is_primary_device_delivery_only: () => false,
    is_sms_fallback_enabled: () => false,
    ...absent('sub_category', 'display_format'),
    // Fields of templates of advertisements only.
    ...absent('ad_account_id', 'ad_adset_id', 'ad_campaign_id', 'ad_id'),
    ...absent('bid_spec', 'creative_sourcing_spec', 'degrees_of_freedom_spec'),
    last_updated_time: (template) => new Date(template.updatedAt).toISOString(),
  },
  ['name', 'parameter_format', 'components', 'language', 'status', 'category', 'id'],
);

/** The handle of a media header is never shown again; an address of the file replaces it. */
function shown(template: Template, component: TemplateComponent): TemplateComponent {
  if (component.type === 'CAROUSEL' && Array.isArray(component.cards)) {
    const cards = (component.cards as { components: TemplateComponent[] }[]).map((card) => ({
      ...card,
      components: card.components.map((part) => shown(template, part)),
    }));
    return { ...component, cards };
  }
  if (!isObject(component.example) || component.example.header_handle === undefined) return component;
  const extension = { IMAGE: 'jpg', VIDEO: 'mp4', GIF: 'mp4' }[component.format ?? ''] ?? 'pdf';
  const address = `https://scontent.whatsapp.net/v/t61.29466-34/${template.id}_n.${extension}?ccb=1-7&oh=01_Q5&oe=6971C5A0`;
  return { ...component, example: { ...component.example, header_handle: [address] } };
}
