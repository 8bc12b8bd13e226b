import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { newId } from '../../src/common/ids.js';
import { EXAMPLE_MEDIA_ID } from '../../src/common/example-ids.js';
import { approvedTemplate } from '../messages/platform-templates.js';
import { storedFile } from '../messages/stored-files.js';
import { sendingWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import { arbitraryOf, withCardsAlike, type Schema } from '../support/schema-arbitrary.js';
import { FUZZ_SEED, runs } from '../support/runs.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** POST /messages takes what its description describes, and names what it does not. */
interface Description {
  paths: Record<string, { post: { requestBody: { content: { 'application/json': Content } } } }>;
  components: { schemas: Record<string, Schema> };
}
interface Content {
  examples: Record<string, { value: Record<string, unknown> }>;
}
type Body = Record<string, unknown>;

const description = JSON.parse(readFileSync('openapi.json', 'utf8')) as Description;
const content = description.paths['/api/v1/messages']?.post.requestBody.content['application/json'] as Content;
const forms = description.components.schemas.SendMessage?.anyOf as { $ref: string }[];
const names = forms.map(({ $ref }) => $ref.split('/').at(-1) ?? '');

const USER_ID = 'US.13491208655302741918';

let test: TestApp;
let workspace: SendingWorkspace;
let to: string;
let earlier: string;
let conversation: string;

beforeAll(async () => {
  test = await startTestApp({ roles: ['api', 'simulator'] });
  workspace = await sendingWorkspace(test);
  to = await workspace.contact();
  await test.database.execute('update conversation set user_id = $2 where phone = $1', [to, USER_ID]);
  earlier = await workspace.sendText(to);
  conversation = (await workspace.message(earlier)).conversation_id as string;
  const body = { type: 'BODY', text: 'Here it is.' };
  for (const [name, format] of [
    ['new_menu', 'IMAGE'],
    ['invoice', 'DOCUMENT'],
  ] as const) {
    const header = { type: 'HEADER', format, example: { header_handle: ['4::aW1hZ2UvcG5n:ARZ'] } };
    await approvedTemplate(test, workspace, { name, components: [header, body] });
  }
});

afterAll(() => test.stop());

function schemaOf(ref: string): Schema {
  const found = description.components.schemas[ref.split('/').at(-1) ?? ''];
  if (found === undefined) throw new Error(`the description has no ${ref}`);
  return found;
}

/** The values that only the workspace knows, in the place of made ones. */
function placed(body: Body): Body {
  const {
    media_object_id: _file,
    to: _to,
    recipient,
    connection_id: _connection,
    conversation_id,
    ...rest
  } = withCardsAlike(body);
  const connection = { connection_id: workspace.connection.id };
  let address: Body = { ...connection, to };
  if (conversation_id !== undefined) address = { conversation_id: conversation };
  else if (recipient !== undefined) address = { ...connection, recipient: USER_ID };
  const reply = rest.reply_to_message_id === undefined ? {} : { reply_to_message_id: earlier };
  const media = rest.media as Body | undefined;
  // A UUID would be one of our own files, and there are none.
  const ownFile =
    media !== undefined && typeof media.id === 'string' ? { media: { ...media, id: '1037543291543636' } } : {};
  const time = rest.send_at === undefined ? {} : { send_at: new Date(Date.now() + 3_600_000).toISOString() };
  return { ...rest, ...reply, ...ownFile, ...time, ...address };
}

const post = (body: unknown) => workspace.api.post('/messages', body, { headers: { 'idempotency-key': newId() } });

/** Paths of all values inside a body, the body's own fields first. */
function pathsOf(value: unknown, path: (string | number)[] = []): (string | number)[][] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const here = [...path, Array.isArray(value) ? Number(key) : key];
    return [here, ...pathsOf(inner, here)];
  });
}

function changed(value: unknown, path: (string | number)[], change: (holder: Body, key: string) => void): unknown {
  const copy = structuredClone(value);
  let holder = copy as Body;
  for (const step of path.slice(0, -1)) holder = holder[String(step)] as Body;
  change(holder, String(path.at(-1)));
  return copy;
}

const fieldOf = (path: (string | number)[]): string =>
  path.reduce<string>((field, step) => {
    if (typeof step === 'number') return `${field}[${step}]`;
    return field === '' ? step : `${field}.${step}`;
  }, '');

describe.each(names)('%s', (name) => {
  const bodies = arbitraryOf(schemaOf(name), schemaOf).map((body) => placed(body as Body));

  it('made from the description is taken', async () => {
    await fc.assert(
      fc.asyncProperty(bodies, async (body) => {
        const response = await post(body);
        // The form of a made-up template is good; that the account has none of its name is another matter.
        if (response.body.error?.code === 'TEMPLATE_NOT_FOUND') return;
        if (response.status !== 202) throw new Error(JSON.stringify(response.body));
      }),
      { numRuns: runs(10), seed: FUZZ_SEED },
    );
  });

  it('of a wrong type somewhere is refused with 422, naming the place', async () => {
    await fc.assert(
      fc.asyncProperty(
        bodies,
        fc.nat(),
        fc.constantFrom<unknown>(null, 17_000.5, [17], { odd: 1 }),
        async (body, at, wrong) => {
          const known = pathsOf(body).filter((path) => isDescribed(schemaOf(name), path));
          const path = known[at % known.length] ?? ['to'];
          const response = await post(changed(body, path, (holder, key) => (holder[key] = wrong)));
          const field = fieldOf(path);
          // An object in the place of an object is invalid inside.
          const named = response.body.error.details?.some(
            (detail) => `${detail.field}.`.startsWith(`${field}.`) || detail.field.startsWith(`${field}[`),
          );
          if (response.status !== 422 || named !== true) throw new Error(`${field}: ${JSON.stringify(response.body)}`);
        },
      ),
      { numRuns: runs(10), seed: FUZZ_SEED },
    );
  });
});

/** Whether the description says what is at a path; places that it leaves open take anything. */
function isDescribed(schema: Schema, path: (string | number)[]): boolean {
  if (path.length === 0) return !isOpen(schema);
  const alternatives = (schema.oneOf ?? schema.anyOf) as Schema[] | undefined;
  const [step, ...rest] = path;
  const own =
    typeof step === 'number' ? schema.items : (schema.properties as Record<string, unknown> | undefined)?.[step ?? ''];
  if (own !== undefined) return isDescribed(own as Schema, rest);
  return alternatives?.some((alternative) => isDescribed(alternative, path)) ?? false;
}

/** Anything, or any object. */
function isOpen(schema: Schema): boolean {
  if (schema.type === 'object') return schema.additionalProperties === true && schema.required === undefined;
  return (
    schema.type === undefined && schema.const === undefined && schema.oneOf === undefined && schema.anyOf === undefined
  );
}

/** The fields that a form has beside those of every message. */
const ownFields = (name: string): unknown => ((schemaOf(name).allOf as Schema[])[1] as Schema).properties;

describe('the examples', () => {
  it.each(Object.keys(content.examples))('%s is taken', async (name) => {
    const value = content.examples[name]?.value ?? {};
    const type = ({ template_image: 'image', template_document: 'document' } as const)[name];
    const file = type === undefined ? EXAMPLE_MEDIA_ID : await storedFile(test, workspace, type);
    const body = JSON.parse(JSON.stringify(value).replaceAll(EXAMPLE_MEDIA_ID, file)) as Body;
    const response = await post({ ...placed(body), ...(type === 'image' && { media_object_id: file }) });
    expect([response.status, response.body.error]).toEqual([202, undefined]);
  });

  it('show every variant', () => {
    const shown = Object.values(content.examples).map(({ value }) => value.type);
    const types = names.map((name) => {
      const { type } = ownFields(name) as Record<string, { const?: string } | undefined>;
      return type?.const;
    });
    expect(new Set(shown)).toEqual(new Set(types));
    const kinds = names.flatMap((name) => {
      const { interactive } = ownFields(name) as Record<string, Schema | undefined>;
      const forms = interactive === undefined ? [] : ((interactive.oneOf ?? [interactive]) as Schema[]);
      return forms.map(({ properties }) => (properties as Record<string, { const?: string }>).type?.const);
    });
    expect(kinds).toHaveLength(11);
    const shownKinds = Object.values(content.examples).map(
      ({ value }) => (value.interactive as { type?: string } | undefined)?.type,
    );
    expect(new Set(shownKinds.filter((kind) => kind !== undefined))).toEqual(new Set(kinds));
  });
});
