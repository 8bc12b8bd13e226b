/** One part of a template in WhatsApp's own format. Only `type` is certain; other fields are read with care. */
export type TemplateComponent = { readonly type: string; readonly [key: string]: unknown };

export const TEMPLATE_STATUSES = [
  'pending',
  'approved',
  'rejected',
  'paused',
  'disabled',
  'in_appeal',
  'pending_deletion',
] as const;
export type TemplateStatus = (typeof TEMPLATE_STATUSES)[number];

/** `REINSTATED`: "it may be sent again", WhatsApp's word after a pause or a lifted ban. */
const STATUS_OF_WORD = new Map<string, TemplateStatus>([
  ...TEMPLATE_STATUSES.map((status) => [status.toUpperCase(), status] as const),
  ['REINSTATED', 'approved'],
]);

/** Our status for one of WhatsApp's; an unknown one can't be sent, so it counts as `disabled`. */
export function statusOf(platformStatus: string): TemplateStatus {
  return STATUS_OF_WORD.get(platformStatus) ?? 'disabled';
}

/** WhatsApp writes `NONE` where nothing was rejected. */
export function reasonOf(platformReason: string | null): string | null {
  return platformReason === '' || platformReason === 'NONE' ? null : platformReason;
}

export const TEMPLATE_CATEGORIES = ['UTILITY', 'MARKETING', 'AUTHENTICATION'] as const;
export type TemplateCategory = (typeof TEMPLATE_CATEGORIES)[number];

/** `{{1}}`, `{{2}}` ... or `{{first_name}}`. */
export const PARAMETER_FORMATS = ['POSITIONAL', 'NAMED'] as const;
export type ParameterFormat = (typeof PARAMETER_FORMATS)[number];

/** The facts that determine the form of a template. */
export interface TemplateForm {
  readonly category: TemplateCategory;
  readonly parameterFormat: ParameterFormat;
  readonly components: readonly TemplateComponent[];
}

/** The values of a template's variables only, in order. */
export interface TemplateValues {
  /** Text, or for a header with a file its address or id. */
  readonly header?: readonly string[];
  readonly body?: readonly string[];
  /** For the buttons that have a variable. */
  readonly buttons?: readonly string[];
}

/** A template that may be sent now. */
export interface SendableTemplate {
  readonly category: TemplateCategory;
  /** Kind of media in the header, if any. */
  readonly headerMedia: 'image' | 'video' | 'document' | null;
  /** The components of a message with these values. */
  componentsOf(values: TemplateValues): Record<string, unknown>[];
  /**
   * Checks the parameters of a send and renders the body.
   *
   * @returns null where the template has no body text.
   * @throws TEMPLATE_PARAMETERS_MISMATCH (422) with expected, given
   */
  render(components: readonly Readonly<Record<string, unknown>>[]): string | null;
}

/** A template to be submitted to WhatsApp. */
export interface TemplateDraft extends TemplateForm {
  readonly name: string;
  readonly language: string;
  /** Absent: WhatsApp's default, or unchanged. */
  readonly messageSendTtlSeconds?: number | undefined;
}

/** A request's changes of one language of a template. An undefined time to live stays unchanged. */
export type TemplateEdit = Pick<TemplateDraft, 'language' | 'components'> & {
  readonly messageSendTtlSeconds: number | undefined;
};

/** A WhatsApp account in one workspace. */
export interface AccountKey {
  readonly organizationId: string;
  readonly wabaId: string;
}
