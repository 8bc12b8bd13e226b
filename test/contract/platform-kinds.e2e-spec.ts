import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { buildMessageBody, type SendableType } from '../../src/infrastructure/whatsapp/message-body.js';
import { readMessageInput } from '../../src/modules/messages/accept/message-input.js';
import { DEMO_NUMBERS } from '../../simulator/src/demo-numbers.js';
import { GraphError } from '../../simulator/src/graph-error.js';
import { checkMessage } from '../../simulator/src/messages/message.routes.js';
import type { SimulatorNumber } from '../../simulator/src/simulator.types.js';
import { Table } from '../../simulator/src/store.js';
import { TemplateStore } from '../../simulator/src/templates/template-store.js';
import { KIND_CASES } from '../messages/kind-cases.js';
import { FUZZ_SEED, runs } from '../support/runs.js';
import { arbitraryOf, withCardsAlike, type Schema } from '../support/schema-arbitrary.js';

/** Herald and the platform's simulator check each message by rules of their own: the two agree. */

type Body = Record<string, unknown>;

const templates = new TemplateStore(new Table('templates', () => undefined));
const sender = DEMO_NUMBERS[0] as SimulatorNumber;
const { schemas } = (
  JSON.parse(readFileSync('openapi.json', 'utf8')) as { components: { schemas: Record<string, Schema> } }
).components;
const schemaOf = (ref: string): Schema => schemas[ref.split('/').at(-1) ?? ''] as Schema;

/** The platform's refusal; null where it takes the message. */
function refusalOf(body: Body): string | null {
  try {
    checkMessage({ messaging_product: 'whatsapp', to: '+15550100001', ...body }, sender, templates);
    return null;
  } catch (error) {
    if (error instanceof GraphError) return error.body('trace');
    throw error;
  }
}

/** With ids of files as the platform gives them. */
function placed(body: Body): Body {
  const { media_object_id: _file, recipient: _user, conversation_id: _conversation, ...given } = body;
  const { interactive, ...rest } = withCardsAlike(given);
  const addressed = { ...rest, to: '15550100001', connection_id: '01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f' };
  return interactive === undefined ? addressed : { ...addressed, interactive: withFiles(interactive as Body) };
}

function withFiles(holder: Body): Body {
  const header = holder.header as Body | undefined;
  const kind = header?.type as string | undefined;
  const file = kind === undefined ? undefined : (header?.[kind] as Body | string);
  const named = typeof file === 'object' && file.id !== undefined ? { [String(kind)]: { ...file, id: '1' } } : {};
  const action = holder.action as Body;
  const cards = (action.cards as Body[] | undefined)?.map(withFiles);
  return {
    ...holder,
    ...(header && { header: { ...header, ...named } }),
    action: { ...action, ...(cards && { cards }) },
  };
}

type Properties = Record<string, { const?: string; oneOf?: unknown } | undefined>;

/** Beside those that every message has. */
function ownProperties({ allOf }: Schema): Properties | undefined {
  const [, own] = (allOf ?? []) as { properties?: Properties }[];
  return own?.properties;
}

const KINDS = Object.keys(schemas).filter((name) => {
  const properties = ownProperties(schemaOf(name));
  const type = properties?.type?.const;
  if (!name.startsWith('Send') || type === undefined) return false;
  // Buttons and lists: any `action` is passed on.
  return (
    type === 'location' ||
    type === 'contacts' ||
    (type === 'interactive' && properties?.interactive?.oneOf === undefined)
  );
});

it('are the eleven kinds whose content Herald checks in full', () => expect(KINDS).toHaveLength(11));

it.each(KINDS)('%s: what Herald takes, the platform takes', (name) => {
  const bodies = arbitraryOf(schemaOf(name), schemaOf).map((body) => placed(body as Body));
  fc.assert(
    fc.property(bodies, (body) => {
      const { type, content, recipient } = readMessageInput(body);
      const sent = buildMessageBody({ to: recipient, type: type as SendableType, content, callbackData: 'a' });
      expect(refusalOf(JSON.parse(JSON.stringify(sent)) as Body)).toBeNull();
    }),
    { numRuns: runs(40), seed: FUZZ_SEED },
  );
});

/** Herald is stricter where a mistake would go unseen. */
const HERALD_ONLY = ['location: latitude with a line break', 'cta_url: header null', 'cta_url: a surplus key'];
const refused = KIND_CASES.filter(({ violations }) => violations.length > 0).map(({ name, body }) => ({
  name,
  refusal: refusalOf(JSON.parse(JSON.stringify(body)) as Body),
}));

it('what Herald refuses, the platform refuses too, but for what it reads in another way', () => {
  expect(
    refused
      .filter(({ refusal }) => refusal === null)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(HERALD_ONLY.sort());
});
