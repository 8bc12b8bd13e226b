import type { ErrorDetail } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { isObject } from '../../common/json.js';
import { array, fault, integer, object, oneOf, string, type Shape } from '../../common/shape.js';
import { componentsFromBody } from './form/body-template.js';
import { checkTemplate, type TemplateDraft } from './form/check-template.js';
import { componentsInCapitals, inCapitals } from './form/platform-words.js';
import type { PreviewParameters } from './form/preview.js';
import { variablesOf } from './form/variables.js';
import {
  PARAMETER_FORMATS,
  TEMPLATE_CATEGORIES,
  type ParameterFormat,
  type TemplateCategory,
  type TemplateComponent,
  type TemplateEdit,
} from './templates.types.js';

const COMPONENT_TYPES = ['HEADER', 'BODY', 'FOOTER', 'BUTTONS', 'CAROUSEL', 'LIMITED_TIME_OFFER'];

const name = string({
  min: 1,
  max: 512,
  pattern: /^[a-z0-9_]+$/,
  meaning: 'small letters, digits and underscores',
  description: 'Small letters, digits and underscores.',
  example: 'order_update',
});

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
  name,
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

/** The two forms of it, for the API description. */
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

const values = array(string({ max: 32_768 }), { max: 100 });

/** Body of POST /connections/{id}/templates/preview. */
export const PREVIEW_SHAPE = object({
  required: { template_name: string({ min: 1, max: 512, example: 'order_update' }) },
  optional: {
    parameters: object({
      optional: { header: values, body: values },
      description: 'Values of the variables, in the order of `variables`.',
    }),
    language: string({ min: 1, max: 20, description: 'Default: an approved version goes first.', example: 'en_US' }),
  },
});

interface CreateBody {
  name: string;
  language: string;
  category: TemplateCategory;
  body?: string;
  variable_examples?: string[];
  components?: TemplateComponent[];
  parameter_format?: ParameterFormat;
  message_send_ttl_seconds?: number;
}

/**
 * A template from `body` with its examples, or from `components`.
 *
 * @throws INVALID_REQUEST (400) naming each faulty field, what the platform surely refuses for its form included.
 */
export function readCreateInput(received: unknown): TemplateDraft {
  const input = checked<CreateBody>(CREATE_SHAPE, normalised(received));
  const draft = input.body === undefined ? draftFromComponents(input) : draftFromBody(input, input.body);
  const faults = checkTemplate(draft);
  refuseFaulty(input.body === undefined ? faults : faults.map(asBodyFault));
  return draft;
}

/** @throws INVALID_REQUEST (400). */
export function readEditInput(received: unknown): TemplateEdit {
  const { message_send_ttl_seconds: messageSendTtlSeconds, ...edit } = checked<
    Pick<CreateBody, 'language' | 'message_send_ttl_seconds'> & { components: TemplateComponent[] }
  >(EDIT_SHAPE, normalised(received));
  return { ...edit, messageSendTtlSeconds };
}

/** @throws INVALID_REQUEST (400). */
export function readPreviewInput(received: unknown): {
  name: string;
  language: string | null;
  parameters: PreviewParameters;
} {
  const input = checked<{ template_name: string; language?: string; parameters?: PreviewParameters }>(
    PREVIEW_SHAPE,
    received,
  );
  return { name: input.template_name, language: input.language ?? null, parameters: input.parameters ?? {} };
}

function draftFromComponents(input: CreateBody): TemplateDraft {
  if (input.components === undefined) {
    refuse([fault('body', 'required', 'Either body or components must be there.')]);
  }
  if (input.variable_examples !== undefined) {
    refuse([
      fault('variable_examples', 'exclusive', 'variable_examples go with body; components have examples inside.'),
    ]);
  }
  const { name: of, language: code, category } = input;
  return {
    name: of,
    language: code,
    category,
    parameterFormat: input.parameter_format ?? 'POSITIONAL',
    components: input.components,
    messageSendTtlSeconds: input.message_send_ttl_seconds,
  };
}

function draftFromBody(input: CreateBody, body: string): TemplateDraft {
  if (input.components !== undefined) {
    refuse([fault('components', 'exclusive', 'body and components exclude each other; send one of them.')]);
  }
  const made = componentsFromBody(body, input.variable_examples);
  if ('faults' in made) refuse(made.faults);
  const wanted = input.parameter_format ?? made.parameterFormat;
  if (wanted !== made.parameterFormat && variablesOf(made.components, made.parameterFormat).length > 0) {
    refuse([fault('parameter_format', 'mismatch', `The variables of body make the format ${made.parameterFormat}.`)]);
  }
  const { name: of, language: code, category, message_send_ttl_seconds: messageSendTtlSeconds } = input;
  const { components: parts } = made;
  return { name: of, language: code, category, parameterFormat: wanted, components: parts, messageSendTtlSeconds };
}

/** A fault of the component that was made of the body is one of the body. */
function asBodyFault({ field, rule, message }: ErrorDetail): ErrorDetail {
  const place = /^components\[0\]\.(text|example)\S*/.exec(field);
  if (place === null) return { field, rule, message };
  const own = place[1] === 'text' ? 'body' : 'variable_examples';
  return { field: own, rule, message: message.replaceAll(field, own) };
}

/** The platform's words in capitals, as they are checked, sent and stored. */
function normalised(received: unknown): unknown {
  if (!isObject(received)) return received;
  const words = ['category', 'parameter_format'].filter((key) => Object.hasOwn(received, key));
  return {
    ...received,
    ...Object.fromEntries(words.map((key) => [key, inCapitals(received[key])])),
    ...(Object.hasOwn(received, 'components') && { components: componentsInCapitals(received.components) }),
  };
}

function checked<T>(shape: Shape, received: unknown): T {
  const faults: ErrorDetail[] = [];
  shape.check(received ?? {}, '', faults);
  refuseFaulty(faults);
  return (received ?? {}) as T;
}

function refuseFaulty(details: ErrorDetail[]): void {
  if (details.length > 0) refuse(details);
}

function refuse(details: ErrorDetail[]): never {
  throw commonErrors.INVALID_REQUEST({ details });
}
