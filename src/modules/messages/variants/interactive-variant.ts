import type { ErrorDetail } from '../../../common/app-error.js';
import { array, fault, free, isObject, object, oneOf, refined, string, type Shape } from '../../../common/shape.js';
import { bodyShape, type MessageVariant } from './variant.js';

/* Limits of the platform: Cloud API reference of interactive messages. `action` itself stays open. */
const SHORT_TEXT_MAX = 60;
const MAX_ROWS = 10;

const replyButtons = object({
  required: {
    buttons: array(
      object({
        required: {
          reply: object({
            required: { id: string({ min: 1, max: 256 }), title: string({ min: 1, max: 20 }) },
            open: true,
          }),
        },
        open: true,
      }),
      { min: 1, max: 3 },
    ),
  },
  open: true,
});

const list = object({
  required: {
    button: string({ min: 1, max: 20 }),
    sections: array(
      object({
        required: {
          rows: array(
            object({
              required: { id: string({ min: 1, max: 200 }), title: string({ min: 1, max: 24 }) },
              optional: { description: string({ max: 72 }) },
              open: true,
            }),
            { min: 1, max: MAX_ROWS },
          ),
        },
        optional: { title: string({ max: 24 }) },
        open: true,
      }),
      { min: 1, max: 10 },
    ),
  },
  open: true,
});

interface Button {
  reply: { id: string; title: string };
}
interface Section {
  title?: string;
  rows: { id: string }[];
}
interface Interactive {
  type: 'button' | 'list';
  header?: { type: string; text?: unknown };
  action: { buttons?: Button[]; sections?: Section[] };
}

const text = object({
  required: { text: string({ min: 1, max: 1_024, description: 'The text.' }) },
  open: true,
});
const footer = object({ required: { text: string({ min: 1, max: SHORT_TEXT_MAX }) }, open: true });
const header = object({
  required: {
    type: string({ min: 1, max: 20, description: 'text, image, video or document; a list takes text only.' }),
  },
  open: true,
});

/** What both kinds have; `action` is checked by kind. */
const frame = object({
  required: { type: oneOf(['button', 'list']), body: text, action: free({ type: 'object' }) },
  optional: { header, footer },
});

const TEXT_HEADER = object({
  required: { type: oneOf(['text']), text: string({ min: 1, max: SHORT_TEXT_MAX }) },
  open: true,
});

/** The schema of one kind, exact where JSON Schema can be. */
function schemaOf(type: 'button' | 'list', action: Shape): Record<string, unknown> {
  const headers = type === 'list' ? TEXT_HEADER.schema : { anyOf: [TEXT_HEADER.schema, MEDIA_HEADER] };
  const exact = object({
    required: { type: oneOf([type]), body: text, action },
    optional: { header: free(headers), footer },
  });
  return exact.schema;
}

const MEDIA_HEADER = {
  type: 'object',
  description: "A file, as the platform's reference has it: `image`, `video` or `document` with `id` or `link`.",
  required: ['type'],
  // Others are left to the platform, which may come to know more kinds.
  properties: { type: { type: 'string', minLength: 1, maxLength: 20, not: { const: 'text' }, examples: ['image'] } },
  additionalProperties: true,
};

const checked = refined(frame, (value: Interactive, field, faults) => {
  const path = `${field}.action`;
  const before = faults.length;
  const shape = value.type === 'button' ? replyButtons : list;
  shape.check(value.action, path, faults);
  checkHeader(value, `${field}.header`, faults);
  if (faults.length > before) return;
  if (value.type === 'button') checkButtons(value.action.buttons ?? [], `${path}.buttons`, faults);
  else checkSections(value.action.sections ?? [], `${path}.sections`, faults);
});

const interactive: Shape = {
  schema: { oneOf: [schemaOf('button', replyButtons), schemaOf('list', list)] },
  check: (value, field, faults) => checked.check(value, field, faults),
};

function checkHeader(value: Interactive, field: string, faults: ErrorDetail[]): void {
  const { header } = value;
  if (!isObject(header)) return;
  if (value.type === 'list' && header.type !== 'text') {
    faults.push(fault(`${field}.type`, 'one_of', `${field}.type must be text: a list takes no other header.`));
  } else if (header.type === 'text') {
    string({ min: 1, max: SHORT_TEXT_MAX }).check(header.text, `${field}.text`, faults);
  }
}

function checkButtons(buttons: Button[], field: string, faults: ErrorDetail[]): void {
  for (const key of ['id', 'title'] as const) {
    if (new Set(buttons.map((button) => button.reply[key])).size === buttons.length) continue;
    faults.push(fault(field, 'unique', `Every button of ${field} needs a reply.${key} of its own.`));
  }
}

function checkSections(sections: Section[], field: string, faults: ErrorDetail[]): void {
  const rows = sections.flatMap((section) => section.rows);
  if (rows.length > MAX_ROWS) {
    faults.push(fault(field, 'length', `${field} must have at most ${MAX_ROWS} rows in all.`));
  }
  if (new Set(rows.map((row) => row.id)).size !== rows.length) {
    faults.push(fault(field, 'unique', `Every row of ${field} needs an id of its own.`));
  }
  sections.forEach((section, index) => {
    if (sections.length === 1 || (section.title ?? '') !== '') return;
    const title = `${field}[${index}].title`;
    faults.push(fault(title, 'required', `${title} is missing: with several sections each needs a title.`));
  });
}

/** Reply buttons or a list. */
export const interactiveVariant: MessageVariant = {
  name: 'SendInteractive',
  type: 'interactive',
  shape: bodyShape({ type: oneOf(['interactive']), interactive }),
  normalize: (body) => {
    const content = body.interactive as Record<string, unknown> & { body: { text: string } };
    return { type: 'interactive', content, body: content.body.text };
  },
};
