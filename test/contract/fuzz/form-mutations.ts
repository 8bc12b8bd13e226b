import type { Call } from './caller.js';
import { chosen, FAULTY, only, type Mutation, type Refusal } from './mutation.js';
import { BOUNDARY, encode, formOf, type FilePart } from './request.js';

type Parts = (readonly [name: string, value: string | FilePart | undefined])[];
interface Form {
  connection_id: string;
  type?: string;
  voice?: string;
  file: FilePart;
}

const with_ = (form: Form, more: Parts): Buffer => formOf([...Object.entries(form), ...more] as Parts);
const without = (form: Form, ...names: string[]): Parts =>
  (Object.entries(form) as Parts).filter(([name]) => !names.includes(name));
const replaced = (form: Form, name: string, value: string): Buffer => formOf([...without(form, name), [name, value]]);
const file = (form: Form, change: Partial<FilePart>): Buffer =>
  formOf([...without(form, 'file'), ['file', { ...form.file, ...change }]]);

/** Forms that no upload may be made of. */
const FAULTY_FORMS: readonly ((form: Form) => Buffer)[] = [
  (form) => formOf(without(form, 'file')),
  (form) => formOf(without(form, 'connection_id')),
  (form) => replaced(form, 'file', 'text and no file'),
  (form) => replaced(form, 'type', 'no_such_type'),
  (form) => replaced(form, 'type', ''),
  (form) => replaced(form, 'voice', 'yes'),
  (form) => replaced(form, 'connection_id', 'no-uuid'),
  (form) => replaced(form, 'connection_id', '\u0000'),
  (form) => with_(form, [['no_such_field', '1']]),
  (form) => with_(form, [['__proto__', '1']]),
  (form) => with_(form, [['constructor[prototype]', '1']]),
  (form) => with_(form, [['connection_id', form.connection_id]]),
  (form) => with_(form, [['file', form.file]]),
  (form) => with_(form, [['other', form.file]]),
  (form) => with_(form, [['type', 'x'.repeat(5_000)]]),
  (form) => with_(form, [['x'.repeat(5_000), '1']]),
  (form) =>
    with_(
      form,
      Array.from({ length: 20 }, () => ['type', 'image'] as const),
    ),
  (form) => with_(form, []).subarray(0, -BOUNDARY.length - 8),
  (form) => with_(form, []).subarray(0, 120),
  (form) => Buffer.from(with_(form, []).toString('latin1').replaceAll('form-data; name', 'form-data; nome'), 'latin1'),
  (form) => file(form, { bytes: Buffer.alloc(0) }),
  (form) => file(form, { bytes: Buffer.alloc(2_000, 0x01) }),
  () => Buffer.alloc(0),
  () => Buffer.from('not a form at all'),
  () => formOf([]),
];

/** Odd names and headers, which say nothing about the bytes: taken or refused, but never an error of ours. */
const ODD_FORMS: readonly ((form: Form) => Buffer)[] = [
  ...[
    '../../../etc/passwd',
    'a\u0000b.png',
    '',
    '\ud83d',
    '🙂'.repeat(300),
    'CON',
    '.',
    'a\\"b',
    'x;y=z',
    '__proto__',
  ].map((name) => (form: Form) => file(form, { name })),
  ...['', 'no/such/type', 'image/png; charset=\u0001', 'x'.repeat(3_000)].map(
    (mimeType) => (form: Form) => file(form, { mimeType }),
  ),
  (form) => Buffer.concat([with_(form, []), Buffer.from('what comes after the end')]),
  (form) => Buffer.concat([Buffer.from('what comes before the first boundary\r\n'), with_(form, [])]),
];

const TYPES: readonly (readonly [string, Refusal])[] = [
  ['application/json', only(415, 'UNSUPPORTED_CONTENT_TYPE')],
  ['text/plain', only(415, 'UNSUPPORTED_CONTENT_TYPE')],
  ['multipart/mixed; boundary=x', only(415, 'UNSUPPORTED_CONTENT_TYPE')],
  ['multipart/form-data', FAULTY],
  ['multipart/form-data; boundary=', FAULTY],
  ['multipart/form-data; boundary=another', FAULTY],
  [`multipart/form-data; boundary=${'x'.repeat(300)}`, FAULTY],
];

const isForm: Mutation['applies'] = ({ body }) => body?.type === 'multipart/form-data';

function formMutation(
  kind: string,
  share: number,
  refusal: Refusal | null,
  change: (call: Call, form: Form, variant: number) => Call,
) {
  const bend: Mutation['bend'] = (request, { variant }) => ({
    call: change(encode(request), request.body as Form, variant),
    refusal,
  });
  return { kind, share, applies: isForm, bend };
}

export const FORM_MUTATIONS: readonly Mutation[] = [
  formMutation('faulty_form', 5, FAULTY, (call, form, variant) => ({
    ...call,
    body: chosen(FAULTY_FORMS, variant)(form),
  })),
  formMutation('odd_form', 3, null, (call, form, variant) => ({ ...call, body: chosen(ODD_FORMS, variant)(form) })),
  {
    kind: 'content_type',
    applies: isForm,
    bend: (request, { variant }) => {
      const [type, refusal] = chosen(TYPES, variant);
      const call = encode(request);
      return { call: { ...call, headers: { ...call.headers, 'content-type': type } }, refusal };
    },
  },
];
