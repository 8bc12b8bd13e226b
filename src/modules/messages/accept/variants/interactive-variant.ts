import type { ErrorDetail } from '../../../../common/app-error.js';
import { isObject } from '../../../../common/json.js';
import { violation, free, object, oneOf, refined, string, type Shape } from '../../../../common/shape.js';
import { interactiveKinds, normalizeInteractive } from './interactive-kinds.js';
import { bodyShape, type MessageVariant } from './variant.js';

/* Limits of the platform: Cloud API reference of interactive messages. */
const SHORT_TEXT_MAX = 60;

interface Interactive {
  type: 'button' | 'list';
  header?: { type: string; text?: unknown };
}

const text = object({ required: { text: string({ max: 1_024, description: 'The text.' }) }, open: true });
const action = object({
  open: true,
  description: [
    "In the platform's own format, passed on as it is: `buttons` (1 to 3) for reply buttons, `button` and `sections`",
    '(up to 10 rows) for a list. A message whose action the platform refuses fails with `invalid_content`.',
  ].join('\n'),
});
const footer = object({ required: { text: string({ min: 1, max: SHORT_TEXT_MAX }) }, open: true });
const header = object({
  required: {
    type: string({ min: 1, max: 20, description: 'text, image, video or document; a list takes text only.' }),
  },
  open: true,
});

/** What both kinds have; `header` is checked by kind. A kind that has a variant of its own never comes here. */
const frame = object({
  required: { type: oneOf(['button', 'list', ...interactiveKinds.map(({ kind }) => kind ?? '')]), body: text, action },
  optional: { header, footer },
});

const TEXT_HEADER = object({
  required: { type: oneOf(['text']), text: string({ min: 1, max: SHORT_TEXT_MAX }) },
  open: true,
});

const MEDIA_HEADER = {
  type: 'object',
  description: "A file, as the platform's reference has it: `image`, `video` or `document` with `id` or `link`.",
  required: ['type'],
  // Others are left to the platform, which may come to know more kinds.
  properties: { type: { type: 'string', minLength: 1, maxLength: 20, not: { const: 'text' }, examples: ['image'] } },
  additionalProperties: true,
};

/** The schema of one kind, exact where JSON Schema can be. */
function schemaOf(type: Interactive['type']): Record<string, unknown> {
  const headers = type === 'list' ? TEXT_HEADER.schema : { anyOf: [TEXT_HEADER.schema, MEDIA_HEADER] };
  const exact = object({
    required: { type: oneOf([type]), body: text, action },
    optional: { header: free(headers), footer },
  });
  return exact.schema;
}

const checked = refined(frame, checkHeader);

const interactive: Shape = {
  schema: { oneOf: [schemaOf('button'), schemaOf('list')] },
  check: (value, field, violations) => checked.check(value, field, violations),
};

function checkHeader(value: Interactive, field: string, violations: ErrorDetail[]): void {
  const { header } = value;
  if (!isObject(header)) return;
  const path = `${field}.header`;
  if (value.type === 'list' && header.type !== 'text') {
    violations.push(violation(`${path}.type`, 'one_of', `${path}.type must be text: a list takes no other header.`));
  } else if (header.type === 'text') {
    string({ min: 1, max: SHORT_TEXT_MAX }).check(header.text, `${path}.text`, violations);
  }
}

/** Reply buttons or a list. */
export const interactiveVariant: MessageVariant = {
  name: 'SendInteractive',
  type: 'interactive',
  shape: bodyShape({ type: oneOf(['interactive']), interactive }),
  normalize: normalizeInteractive,
};
