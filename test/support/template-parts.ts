import fc from 'fast-check';

/** A JSON object. */
export type Json = Record<string, unknown>;

export type Format = 'POSITIONAL' | 'NAMED';

/** A component, what a send gives for it, and how it reads then. */
export interface Part {
  component: { type: string } & Json;
  sent: Json[];
  values: string[];
  /** Null where it is not text. */
  rendered: string | null;
}

export type TextPart = Part & { rendered: string };

const WORDS = [
  'Hello',
  'your order',
  'is on its way',
  'today',
  'às',
  'добрый день',
  'مرحبا',
  '3 × 2',
  '👋',
  "it's",
  '$5',
];
/** Values that a careless renderer would take for something else are among them. */
const VALUES = ['Ana', '42', '{{1}}', '{{2}}', '{{name}}', '$&', '$1', 'a  b', 'Жанна', '1.5 €', '}}'];
const NAMES = ['first_name', 'order', 'x', 'day_2', 'city', 'amount'];

export const words = fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 4 }).map((list) => list.join(' '));
const value = fc.constantFrom(...VALUES);
export const label = fc.constantFrom('Track', 'Stop', 'Купить', 'Call us', 'View the offer');
const handle = fc.constantFrom('4::aW1hZ2U=', '4::dmlkZW8=:ARa');
const inEitherCase = (type: string): fc.Arbitrary<string> => fc.constantFrom(type, type.toLowerCase());

/** A text with these variables, words around each of them. */
export function text(part: 'header' | 'body', format: Format, count: number): fc.Arbitrary<TextPart> {
  const positional = Array.from({ length: count }, (_item, index) => String(index + 1));
  const names =
    format === 'POSITIONAL'
      ? fc.shuffledSubarray(positional, { minLength: count, maxLength: count })
      : fc.shuffledSubarray(NAMES, { minLength: count, maxLength: count });
  return fc
    .record({
      type: inEitherCase(part.toUpperCase()),
      names,
      gaps: fc.array(part === 'header' ? fc.constant('Order') : words, { minLength: count + 1, maxLength: count + 1 }),
      values: fc.array(value, { minLength: count, maxLength: count }),
      examples: fc.array(fc.constantFrom('Ana', '4711', '☕'), { minLength: count, maxLength: count }),
    })
    .map((of) => partOf(part, format, of));
}

function partOf(
  part: 'header' | 'body',
  format: Format,
  of: { type: string; names: string[]; gaps: string[]; values: string[]; examples: string[] },
): TextPart {
  // Values follow the numbers, or the order of appearance.
  const ordered = format === 'POSITIONAL' ? of.names.toSorted() : of.names;
  const valueOf = (name: string): string => of.values[ordered.indexOf(name)] ?? '';
  const join = (show: (name: string) => string): string =>
    of.gaps.map((gap, index) => (index === 0 ? gap : ` ${show(of.names[index - 1] ?? '')} ${gap}`)).join('');
  const template = join((name) => `{{${name}}}`);
  const positional = part === 'header' ? { header_text: of.examples } : { body_text: [of.examples] };
  const named = {
    [`${part}_text_named_params`]: ordered.map((name, index) => ({ param_name: name, example: of.examples[index] })),
  };
  const example = ordered.length === 0 ? {} : { example: format === 'POSITIONAL' ? positional : named };
  const parameters = ordered.map((name) => ({
    type: 'text',
    ...(format === 'NAMED' && { parameter_name: name }),
    text: valueOf(name),
  }));
  return {
    component: { type: of.type, ...(part === 'header' && { format: 'TEXT' }), text: template, ...example },
    sent: parameters.length === 0 ? [] : [{ type: part, parameters }],
    values: of.values,
    rendered: join(valueOf),
  };
}

export function mediaHeader(formats: readonly ('IMAGE' | 'VIDEO' | 'DOCUMENT' | 'GIF')[]): fc.Arbitrary<Part> {
  return fc
    .record({ format: fc.constantFrom(...formats), handle, byLink: fc.boolean() })
    .map(({ format, handle, byLink }) => {
      const type = format === 'GIF' ? 'video' : format.toLowerCase();
      const reference = byLink ? { link: 'https://example.com/sample' } : { id: '1037543291543636' };
      return {
        component: { type: 'HEADER', format, example: { header_handle: [handle] } },
        sent: [{ type: 'header', parameters: [{ type, [type]: reference }] }],
        values: [],
        rendered: null,
      };
    });
}

/** A button and the parameter that a send gives it, if it needs one. */
export type ButtonSample = { button: Json; parameter?: { sub_type: string; parameters: Json[] } };

const staticUrl = label.map((name): ButtonSample => ({
  button: { type: 'URL', text: name, url: 'https://example.com/' },
}));
export const variableUrl = fc.tuple(label, fc.boolean(), value).map(([name, whole, suffix]): ButtonSample => {
  const example = [whole ? 'https://example.com/t/42' : '42'];
  return {
    button: { type: 'URL', text: name, url: 'https://example.com/t/{{1}}', example },
    parameter: { sub_type: 'url', parameters: [{ type: 'text', text: suffix }] },
  };
});
export const url = fc.oneof(staticUrl, variableUrl);
export const quickReply = fc
  .tuple(label, inEitherCase('QUICK_REPLY'))
  .map(([name, type]): ButtonSample => ({ button: { type, text: name } }));
export const phoneNumber = label.map((name): ButtonSample => ({
  button: { type: 'PHONE_NUMBER', text: name, phone_number: '+15550001111' },
}));
export const copyCode = fc.constantFrom('OFF25', '20 characters long !').map((example): ButtonSample => ({
  button: { type: 'COPY_CODE', example },
  parameter: { sub_type: 'copy_code', parameters: [{ type: 'coupon_code', coupon_code: 'OFF25' }] },
}));

export function buttonsPart(samples: readonly ButtonSample[]): {
  component: ({ type: string } & Json)[];
  sent: Json[];
} {
  const sent = samples.flatMap(({ parameter }, index) =>
    parameter === undefined ? [] : [{ type: 'button', index: index % 2 === 0 ? String(index) : index, ...parameter }],
  );
  return { component: samples.length === 0 ? [] : [{ type: 'BUTTONS', buttons: samples.map((s) => s.button) }], sent };
}

/** Quick replies together, before or after the others; each kind as often as the platform allows. */
export const someButtons = fc
  .record({
    replies: fc.array(quickReply, { maxLength: 4 }),
    urls: fc.array(url, { maxLength: 2 }),
    phones: fc.array(phoneNumber, { maxLength: 1 }),
    coupons: fc.array(copyCode, { maxLength: 1 }),
    first: fc.boolean(),
  })
  .map(({ replies, urls, phones, coupons, first }) => {
    const others = [...urls, ...phones, ...coupons];
    return first ? [...replies, ...others] : [...others, ...replies];
  });
