import { Bubble, type BubbleContent } from './bubble.tsx';

/** A component of a template, in the platform's form. */
export type Part = Record<string, unknown>;

const VARIABLE = /\{\{([^{}]*)\}\}/g;

export const variablesIn = (text: string): string[] => [
  ...new Set([...text.matchAll(VARIABLE)].map(([, name = '']) => name.trim())),
];

export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
export const partsIn = (value: unknown): Part[] =>
  (Array.isArray(value) ? value : []).filter((one): one is Part => typeof one === 'object' && one !== null);
const objectOf = (value: unknown): Part => partsIn([value])[0] ?? {};
const wordOf = (value: unknown): string => textOf(value).toUpperCase();

export const partOf = (parts: readonly Part[], type: string): Part | undefined =>
  parts.find((part) => wordOf(part.type) === type);

/** The examples that were given for the review, by the name of the variable. */
export function examplesOf(part: Part): Map<string, string> {
  const example = objectOf(part.example);
  const place = wordOf(part.type) === 'HEADER' ? 'header_text' : 'body_text';
  const named = partsIn(example[`${place}_named_params`]).map(
    (one) => [textOf(one.param_name), textOf(one.example)] as const,
  );
  const listed: unknown[] = Array.isArray(example[place]) ? (example[place] as unknown[]) : [];
  const values: unknown[] = Array.isArray(listed[0]) ? (listed[0] as unknown[]) : listed;
  return new Map([...values.map((value, index) => [String(index + 1), textOf(value)] as const), ...named]);
}

function filled(part: Part | undefined, withExamples: boolean): string | null {
  const text = textOf(part?.text);
  if (part === undefined || text === '') return null;
  if (!withExamples) return text;
  const examples = examplesOf(part);
  return text.replaceAll(VARIABLE, (place, name: string) => examples.get(name.trim()) || place);
}

interface View {
  bubble: BubbleContent;
  cards: BubbleContent[];
}

/** What a person sees of a template, with its examples or with its variables. */
export function viewOf(parts: readonly Part[], withExamples: boolean): View {
  const header = partOf(parts, 'HEADER');
  const format = wordOf(header?.format);
  const offer = objectOf(partOf(parts, 'LIMITED_TIME_OFFER')?.limited_time_offer);
  const body = partOf(parts, 'BODY');
  const footer = partOf(parts, 'FOOTER');
  const minutes = footer?.code_expiration_minutes;
  const file = header === undefined || format === 'TEXT' ? textOf(offer.text) || null : format.toLowerCase();
  return {
    bubble: {
      header: filled(header, withExamples),
      file,
      body: filled(body, withExamples) ?? codeBody(body),
      footer:
        filled(footer, withExamples) ??
        (typeof minutes === 'number' ? `This code expires in ${minutes} minutes.` : null),
      buttons: partsIn(partOf(parts, 'BUTTONS')?.buttons).map((button) => ({
        id: null,
        title: textOf(button.text) || BUTTON_WORDS[wordOf(button.type)] || '…',
      })),
    },
    cards: partsIn(partOf(parts, 'CAROUSEL')?.cards).map(
      (card) => viewOf(partsIn(card.components), withExamples).bubble,
    ),
  };
}

const BUTTON_WORDS: Readonly<Record<string, string>> = {
  OTP: 'Copy code',
  COPY_CODE: 'Copy offer code',
  CATALOG: 'View catalog',
  MPM: 'View items',
};

/** WhatsApp writes the words of a template for codes, in its language. Of others the text may not be written yet. */
function codeBody(body: Part | undefined): string | null {
  if (body === undefined) return null;
  if (body.text !== undefined) return '…';
  const advice = body.add_security_recommendation === true ? ' For your security, do not share this code.' : '';
  return `123456 is your verification code.${advice}`;
}

/** The template as it looks on a phone. */
export function TemplateView({ parts, withExamples }: { parts: readonly Part[]; withExamples: boolean }) {
  const { bubble, cards } = viewOf(parts, withExamples);
  return (
    <div className="chat template-view">
      <Bubble side="theirs" content={bubble} />
      {cards.length > 0 && (
        <div className="cards" tabIndex={0} role="group" aria-label="Cards">
          {cards.map((card, index) => (
            <Bubble key={index} side="theirs" content={card} />
          ))}
        </div>
      )}
    </div>
  );
}
