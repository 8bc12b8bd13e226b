/** One part of a template in the platform's own format. Only `type` is known for sure; the rest is read with care. */
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

/** `REINSTATED`: "it may be sent again", the platform's word after a pause or a ban that was lifted. */
const STATUS_OF_WORD = new Map<string, TemplateStatus>([
  ...TEMPLATE_STATUSES.map((status) => [status.toUpperCase(), status] as const),
  ['REINSTATED', 'approved'],
]);

/** Our word for a status of the platform's; one that is not known can't be sent, so it counts as `disabled`. */
export function statusOf(platformStatus: string): TemplateStatus {
  return STATUS_OF_WORD.get(platformStatus) ?? 'disabled';
}

/** The platform says `NONE` where nothing was rejected. */
export function reasonOf(platformReason: string | null): string | null {
  return platformReason === '' || platformReason === 'NONE' ? null : platformReason;
}

export const TEMPLATE_CATEGORIES = ['UTILITY', 'MARKETING', 'AUTHENTICATION'] as const;
export type TemplateCategory = (typeof TEMPLATE_CATEGORIES)[number];

/** `{{1}}`, `{{2}}` ... or `{{first_name}}`. */
export const PARAMETER_FORMATS = ['POSITIONAL', 'NAMED'] as const;
export type ParameterFormat = (typeof PARAMETER_FORMATS)[number];

/** What the form of a template depends on. */
export interface TemplateForm {
  readonly category: TemplateCategory;
  readonly parameterFormat: ParameterFormat;
  readonly components: readonly TemplateComponent[];
}

/** The values of a template's variables alone, in their order. */
export interface TemplateValues {
  /** Texts; of a header with a file its address or id. */
  readonly header?: readonly string[];
  readonly body?: readonly string[];
  /** Of the buttons that have a variable. */
  readonly buttons?: readonly string[];
}

/** A template that may be sent now. */
export interface SendableTemplate {
  readonly category: TemplateCategory;
  /** Kind of media in the header, where it has one. */
  readonly headerMedia: 'image' | 'video' | 'document' | null;
  /** What a message with these values sends. */
  componentsOf(values: TemplateValues): Record<string, unknown>[];
  /**
   * Checks the parameters of a send and renders the body.
   *
   * @returns null where the template has no body text.
   * @throws TEMPLATE_PARAMETERS_MISMATCH (422) with expected, given
   */
  render(components: readonly Readonly<Record<string, unknown>>[]): string | null;
}

/** A template that is about to be given to the platform. */
export interface TemplateDraft extends TemplateForm {
  readonly name: string;
  readonly language: string;
  /** Left out: the platform's default, or what it is. */
  readonly messageSendTtlSeconds?: number | undefined;
}

/** What a request changes of one language of a template. A time to live that is undefined stays. */
export type TemplateEdit = Pick<TemplateDraft, 'language' | 'components'> & {
  readonly messageSendTtlSeconds: number | undefined;
};

/** One account of the platform in one workspace. */
export interface AccountKey {
  readonly organizationId: string;
  readonly wabaId: string;
}
