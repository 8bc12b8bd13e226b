import { changeFiles, ownFilesIn } from './file-references.types.js';

const A = '01936f6e-aaaa-7c3d-9e4f-5a6b7c8d9e0f';
const B = '01936f6e-bbbb-7c3d-9e4f-5a6b7c8d9e0f';
const PLATFORM = '1037543291543636';

const card = (id: string) => ({
  card_index: 0,
  components: [
    { type: 'header', parameters: [{ type: 'video', video: { id } }] },
    { type: 'body', parameters: [{ type: 'text', text: id }] },
  ],
});

it.each<[string, string, Record<string, unknown>, [string, string][]]>([
  ['of a media message', 'document', { id: A, caption: 'x' }, [['document', A]]],
  ['in any spelling', 'image', { id: A.toUpperCase() }, [['image', A]]],
  ['not of the platform’s', 'image', { id: PLATFORM }, []],
  ['not behind a link', 'image', { link: `https://example.com/${A}` }, []],
  ['not of a text that looks like one', 'text', { body: A, id: A }, []],
  [
    'in a template’s header and cards, each once',
    'template',
    {
      components: [
        { type: 'header', parameters: [{ type: 'IMAGE', image: { id: A } }] },
        { type: 'carousel', cards: [card(B), card(B), card(PLATFORM), 'no card'] },
        { type: 'body', parameters: [{ type: 'text', text: A }, null] },
        { type: 'button', parameters: 'none' },
        7,
      ],
    },
    [
      ['image', A],
      ['video', B],
    ],
  ],
  ['in an interactive header', 'interactive', { header: { type: 'document', document: { id: A } } }, [['document', A]]],
  [
    'in the headers of an interactive carousel',
    'interactive',
    {
      action: {
        cards: [
          { header: { type: 'image', image: { id: A } } },
          { header: { type: 'video', video: { id: B } } },
          { header: { type: 'image', image: { id: PLATFORM } } },
          { action: { catalog_id: A } },
          'no card',
        ],
      },
    },
    [
      ['image', A],
      ['video', B],
    ],
  ],
  [
    'not in a flow’s data',
    'interactive',
    { action: { parameters: { header: { type: 'image', image: { id: A } } } } },
    [],
  ],
  ['not in an interactive text header', 'interactive', { header: { type: 'text', text: A } }, []],
  ['not without a header', 'interactive', { body: { text: 'x' } }, []],
])('finds our files %s', (_name, type, content, expected) => {
  expect(ownFilesIn(type, content).map((file) => [file.type, file.id])).toEqual(expected);
});

it('changes what it finds and nothing else, leaving what it was given as it is', () => {
  const content = { name: 'x', components: [{ type: 'header', parameters: [{ type: 'image', image: { id: A } }] }, 7] };
  const before = structuredClone(content);
  const changed = changeFiles('template', content, (file) => ({ ...file, id: PLATFORM }));
  const after = { type: 'header', parameters: [{ type: 'image', image: { id: PLATFORM } }] };
  expect(changed).toEqual({ name: 'x', components: [after, 7] });
  expect(content).toEqual(before);
});
