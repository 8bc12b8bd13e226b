import { withHeaderFile } from './file-references.types.js';

const FILE = '01936f6e-1b2c-7c3d-9e4f-5a6b7c8d9e0f';
const header = (...parameters: unknown[]) => ({ type: 'header', parameters });
const shown = (image: object) => ({ type: 'image', image });
const body = { type: 'body', parameters: [{ type: 'text', text: 'Ana' }] };

it.each<[string, unknown[] | undefined, unknown[]]>([
  ['there are no components', undefined, [header(shown({ id: FILE }))]],
  ['there is no header', [body], [header(shown({ id: FILE })), body]],
  [
    'the header has no parameters',
    [body, { type: 'HEADER' }],
    [body, { ...header(shown({ id: FILE })), type: 'HEADER' }],
  ],
  ['the header is empty', [header()], [header(shown({ id: FILE }))]],
  ['its file has no id', [header(shown({})), body], [header(shown({ id: FILE })), body]],
])('fills the header where %s', (_name, components, expected) => {
  const content = { name: 'x', ...(components === undefined ? {} : { components }) };
  const before = structuredClone(content);
  expect(withHeaderFile(content, 'image', FILE)).toEqual({ name: 'x', components: expected });
  expect(content).toEqual(before);
});

it.each([
  ['names the same file', [header(shown({ id: FILE.toUpperCase() }))]],
  ['shows something else', [header({ type: 'video', video: { id: '1' } })]],
  ['shows a text', [header({ type: 'text', text: 'Hi' })]],
])('leaves a header that %s', (_name, components) => {
  expect(withHeaderFile({ components }, 'image', FILE)).toEqual({ components });
});

it.each([
  ['another file', { id: '01936f6e-0000-7c3d-9e4f-5a6b7c8d9e0f' }],
  ['a file of the platform’s', { id: '1037543291543636' }],
  ['a link', { link: 'https://example.com/a.jpg' }],
])('refuses a header that names %s', (_name, image) => {
  expect(() => withHeaderFile({ components: [body, header(shown(image))] }, 'image', FILE)).toThrow(
    expect.objectContaining({
      code: 'VALIDATION_FAILED',
      extra: { details: [expect.objectContaining({ field: 'media_object_id', rule: 'equal' })] },
    }) as Error,
  );
});
