import type { ErrorDetail } from '../../common/app-error.js';
import { commonErrors, invalidField } from '../../common/common.errors.js';
import { isObject } from '../../common/json.js';
import { array, integer, object, oneOf, string, type Shape } from '../../common/shape.js';
import { bodySchema } from '../../infrastructure/http/body-schema.js';
import { checkTemplate, COMPONENT_TYPES } from './form/check-template.js';
import { violation } from './form/check-text.js';
import {
  PARAMETER_FORMATS,
  TEMPLATE_CATEGORIES,
  type TemplateDraft,
  type TemplateEdit,
  type TemplateValues,
} from './templates.types.js';
import { variableNamesIn } from './form/components.js';

const language = string({
  min: 1,
  max: 20,
  description: "The platform's code of the language, such as `en_US` or `de`.",
  example: 'en_US',
});

const components = array(
  object({
    required: { type: oneOf(COMPONENT_TYPES) },
    open: true,
    description: "A component in the platform's own format; `type` and `format` in either case.",
  }),
  { min: 1, max: 10, description: "The parts of the template, in the platform's own format." },
);

const body = string({ min: 1, max: 1024, description: 'The text, with variables `{{1}}`, `{{2}}` ...' });

const variableExamples = array(string({ min: 1, max: 1024 }), {
  max: 100,
  description: 'One example for each variable of `body`, in their order.',
});

const timeToLive = integer({
  min: -1,
  max: 2_592_000,
  description: [
    'Seconds that a message of this template may wait for its delivery: 30 to 900 for `AUTHENTICATION`, 30 to 43200 for',
    "`UTILITY`, 43200 to 2592000 for `MARKETING`; -1 is 30 days, except for `MARKETING`. Default: the platform's.",
  ].join('\n'),
  example: 3_600,
});

const identity = {
  name: string({
    min: 1,
    max: 512,
    pattern: /^[a-z0-9_]+$/,
    meaning: 'small letters, digits and underscores',
    description: 'Small letters, digits and underscores.',
    example: 'order_update',
  }),
  language,
  category: oneOf(TEMPLATE_CATEGORIES, { description: 'In either case.' }),
};

const settings = {
  parameter_format: oneOf(PARAMETER_FORMATS, {
    description: '`NAMED` for variables such as `{{first_name}}`; default `POSITIONAL`. In either case.',
  }),
  message_send_ttl_seconds: timeToLive,
};

/** Body of POST /connections/{id}/templates. */
const CREATE_SHAPE = object({
  required: identity,
  optional: { body, variable_examples: variableExamples, components, ...settings },
});

/** Its two forms, for the API description. */
export const CREATE_FORMS = {
  CreateTemplateFromBody: object({
    required: { ...identity, body },
    optional: { variable_examples: variableExamples, ...settings },
    description: 'A template of one text.',
  }).schema,
  CreateTemplateFromComponents: object({
    required: { ...identity, components },
    optional: settings,
    description: "A template of components in the platform's own format.",
  }).schema,
};

/** Body of PATCH /connections/{id}/templates/{name}. */
export const EDIT_SHAPE = object({
  required: { language, components },
  optional: { message_send_ttl_seconds: timeToLive },
});

const values = array(string({ min: 0, max: 32_768 }), { max: 100 });

/** Body of POST /connections/{id}/templates/preview. */
export const PREVIEW_SHAPE = object({
  required: {
    template_name: string({ min: 1, max: 512, description: "The template's name.", example: 'order_update' }),
  },
  optional: {
    components: array(object({ required: { type: string({ min: 1, max: 64 }) }, open: true }), {
      max: 20,
      description: 'The `components` that a message takes: values of header, body, buttons, cards and offers.',
    }),
    parameters: object({
      optional: { header: values, body: values, buttons: values },
      description:
        'In their place the values alone, as a message takes them: in the order of the numbers, or of the first appearance.',
    }),
    language: string({
      min: 1,
      max: 20,
      description: 'Default: an approved version goes first.',
      example: 'en_US',
    }),
  },
});

export interface PreviewInput {
  template_name: string;
  components?: readonly Record<string, unknown>[];
  parameters?: TemplateValues;
  language?: string;
}

interface EditBody extends Pick<TemplateDraft, 'language' | 'components'> {
  message_send_ttl_seconds?: number;
}

interface CreateBody extends Pick<TemplateDraft, 'name' | 'category'>, Omit<EditBody, 'components'> {
  body?: string;
  variable_examples?: string[];
  components?: TemplateDraft['components'];
  parameter_format?: TemplateDraft['parameterFormat'];
}

/**
 * A template from `body` with its examples, or from `components`.
 *
 * @throws INVALID_REQUEST (400) naming each field, also for form errors that WhatsApp is known to refuse.
 */
function readCreateInput(received: unknown): TemplateDraft {
  const input = checked<CreateBody>(CREATE_SHAPE, received);
  refuseOtherSpelling(input.language);
  const { name, language: code, category, message_send_ttl_seconds: messageSendTtlSeconds } = input;
  const form = input.body === undefined ? formOf(input) : formOfBody(input, input.body);
  const draft = { name, language: code, category, messageSendTtlSeconds, ...form };
  const violations = checkTemplate(draft);
  refuseAny(input.body === undefined ? violations : violations.map(ofBody));
  return draft;
}

/** @throws INVALID_REQUEST (400). */
function readEditInput(received: unknown): TemplateEdit {
  const { message_send_ttl_seconds: messageSendTtlSeconds, ...edit } = checked<EditBody>(EDIT_SHAPE, received);
  return { ...edit, messageSendTtlSeconds };
}

/** @throws INVALID_REQUEST (400) naming each field, also if both `components` and `parameters` are present. */
function readPreviewInput(received: unknown): PreviewInput {
  const input = checked<PreviewInput>(PREVIEW_SHAPE, received);
  if (input.components === undefined || input.parameters === undefined) return input;
  const must = 'parameters and components exclude each other; send one of them.';
  throw invalidField('parameters', 'exclusive', must);
}

export const CREATE_BODY = bodySchema(readCreateInput);
export const EDIT_BODY = bodySchema(readEditInput);
export const PREVIEW_BODY = bodySchema(readPreviewInput);

type Form = Pick<TemplateDraft, 'components' | 'parameterFormat'>;

function formOf({ components: given, variable_examples: examples, parameter_format: format }: CreateBody): Form {
  if (given === undefined) {
    refuse({ field: 'body', rule: 'required', message: 'Either body or components must be there.' });
  }
  if (examples !== undefined) {
    refuse(violation('variable_examples', 'exclusive', 'go with body; components have examples inside.'));
  }
  return { components: given, parameterFormat: format ?? 'POSITIONAL' };
}

function formOfBody(input: CreateBody, text: string): Form {
  if (input.components !== undefined) {
    const message = 'body and components exclude each other; send one of them.';
    refuse({ field: 'components', rule: 'exclusive', message });
  }
  const { components: made, parameterFormat } = componentsFromBody(text, input.variable_examples);
  const wanted = input.parameter_format ?? parameterFormat;
  if (wanted !== parameterFormat && variableNamesIn(text).length > 0) {
    const message = `The variables of body make the format ${parameterFormat}.`;
    refuse({ field: 'parameter_format', rule: 'mismatch', message });
  }
  return { components: made, parameterFormat: wanted };
}

/**
 * Components of a template given by its body only. The examples are in the order in which the variables first appear,
 * or, for `{{1}}` to `{{n}}`, in numeric order. checkTemplate checks the text itself.
 *
 * @throws INVALID_REQUEST (400) where the examples do not match.
 */
export function componentsFromBody(text: string, examples: readonly string[] = []): Form {
  const names = variableNamesIn(text);
  if (examples.length !== names.length) {
    const must = `must have one example for each variable of body: ${names.length}, not ${examples.length}.`;
    refuse(violation('variable_examples', 'examples', must));
  }
  const blank = examples.findIndex((example) => example.trim() === '');
  if (blank !== -1) {
    refuse(violation(`variable_examples[${blank}]`, 'required', 'must be an example of what the variable will hold.'));
  }
  if (names.length === 0) return { components: [{ type: 'BODY', text }], parameterFormat: 'POSITIONAL' };
  const isNamed = names.some((name) => !/^\d+$/.test(name));
  const example = isNamed
    ? { body_text_named_params: names.map((name, index) => ({ param_name: name, example: examples[index] })) }
    : { body_text: [[...examples]] };
  return { components: [{ type: 'BODY', text, example }], parameterFormat: isNamed ? 'NAMED' : 'POSITIONAL' };
}

/** A violation of the component made from the body is reported for the body. */
function ofBody({ field, rule, message }: ErrorDetail): ErrorDetail {
  const place = /^components\[0\]\.(text|example)\S*/.exec(field);
  if (place === null) return { field, rule, message };
  const own = place[1] === 'text' ? 'body' : 'variable_examples';
  return { field: own, rule, message: message.replaceAll(field, own) };
}

/** WhatsApp writes its codes `en` and `en_US`, and accepts no other spelling. */
function refuseOtherSpelling(given: string): void {
  const [, name, region] = /^([a-z]{2,3})(?:[-_]([a-z]{2,3}))?$/i.exec(given) ?? [];
  if (name === undefined) return;
  const code = region === undefined ? name.toLowerCase() : `${name.toLowerCase()}_${region.toUpperCase()}`;
  if (code !== given) refuse(violation('language', 'format', `is written ${code}, not ${given}.`));
}

/** The validated body, with WhatsApp's words in capitals, the form in which they are checked, sent and stored. */
function checked<T>(shape: Shape, received: unknown): T {
  const input = isObject(received) ? inCapitals(received, ['category', 'parameter_format'], ['components']) : received;
  const violations: ErrorDetail[] = [];
  shape.check(input ?? {}, '', violations);
  refuseAny(violations);
  return (input ?? {}) as T;
}

/** Turns the words under these keys into capitals, also in nested parts. */
function inCapitals(object: Record<string, unknown>, words: readonly string[], parts: readonly string[]): unknown {
  const entries = Object.entries(object).map(([key, value]) => {
    if (words.includes(key) && typeof value === 'string') return [key, value.toUpperCase()];
    if (!parts.includes(key) || !Array.isArray(value)) return [key, value];
    return [key, value.map((part) => (isObject(part) ? inCapitals(part, PART_WORDS, PARTS) : part))];
  });
  return Object.fromEntries(entries);
}

/**
 * A component's words that WhatsApp accepts in any case and stores in capitals, and the keys of parts with such words.
 */
const PART_WORDS = ['type', 'format'];
const PARTS = ['buttons', 'cards', 'components'];

function refuseAny(details: ErrorDetail[]): void {
  if (details.length > 0) refuse(...details);
}

function refuse(...details: ErrorDetail[]): never {
  throw commonErrors.INVALID_REQUEST({ details });
}
