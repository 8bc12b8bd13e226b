import { EXAMPLE_MEDIA_ID } from '../../src/common/example-ids.js';
import { approvedTemplate } from '../messages/platform-templates.js';
import { storedFile } from '../messages/stored-files.js';
import type { Schema } from '../support/schema-arbitrary.js';
import { BodiesStage, type Body, content, names, schemaOf } from './described-bodies.js';

/* POST /messages takes the examples of its description; message-bodies.slow.e2e-spec.ts has bodies made from it. */

let stage: BodiesStage;

beforeAll(async () => {
  stage = await BodiesStage.start();
  const body = { type: 'BODY', text: 'Here it is.' };
  for (const [name, format] of [
    ['new_menu', 'IMAGE'],
    ['invoice', 'DOCUMENT'],
  ] as const) {
    const header = { type: 'HEADER', format, example: { header_handle: ['4::aW1hZ2UvcG5n:ARZ'] } };
    await approvedTemplate(stage.test, stage.workspace, { name, components: [header, body] });
  }
});

afterAll(() => stage?.test.stop());

/** The fields that a form has beside those of every message. */
const ownFields = (name: string): unknown => ((schemaOf(name).allOf as Schema[])[1] as Schema).properties;

describe('the examples', () => {
  it.each(Object.keys(content.examples))('%s is taken', async (name) => {
    const value = content.examples[name]?.value ?? {};
    const type = ({ template_image: 'image', template_document: 'document' } as const)[name];
    const file = type === undefined ? EXAMPLE_MEDIA_ID : await storedFile(stage.test, stage.workspace, type);
    const body = JSON.parse(JSON.stringify(value).replaceAll(EXAMPLE_MEDIA_ID, file)) as Body;
    const response = await stage.post({ ...stage.placed(body), ...(type === 'image' && { media_object_id: file }) });
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
