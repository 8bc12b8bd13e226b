import { type FormEvent, type ReactNode, useState } from 'react';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { Button, CheckField, Select, TextField } from './controls.tsx';
import { examplesOf, type Part, partOf, partsIn, TemplateView, textOf, variablesIn } from './template-view.tsx';
import { type MediaFile, Upload } from './media-file.tsx';
import { CopyButton, Problem } from './ui.tsx';

type Template = Schemas['TemplateResponse'];
type Category = Template['category'];

type ButtonType = 'QUICK_REPLY' | 'URL' | 'PHONE_NUMBER';
interface ButtonDraft {
  type: ButtonType;
  text: string;
  /** Address or number. */
  value: string;
}

type HeaderKind = 'TEXT' | 'IMAGE' | 'VIDEO' | 'DOCUMENT';
const HEADER_KINDS: readonly (readonly [HeaderKind, string])[] = [
  ['TEXT', 'Text, or none'],
  ['IMAGE', 'Picture'],
  ['VIDEO', 'Film'],
  ['DOCUMENT', 'Document'],
];

interface Draft {
  name: string;
  language: string;
  category: Category;
  headerKind: HeaderKind;
  header: string;
  /** The sample that WhatsApp reviews. */
  headerFile: MediaFile | null;
  body: string;
  footer: string;
  /** By part and variable, such as `body.1`. */
  examples: Record<string, string>;
  buttons: ButtonDraft[];
  /** Of a template for codes: minutes after which its code is said to expire, and whether it gives advice. */
  minutes: string;
  hasAdvice: boolean;
}

const MAX = { name: 512, header: 60, body: 1_024, footer: 60, label: 25, url: 2_000, phone: 20, buttons: 10 };
const CATEGORIES: readonly (readonly [Category, string])[] = [
  ['UTILITY', 'Utility: an order, an account, an appointment'],
  ['MARKETING', 'Marketing: offers, news, invitations'],
  ['AUTHENTICATION', 'Authentication: a code to log in'],
];
const BUTTON_TYPES: readonly (readonly [ButtonType, string, string])[] = [
  ['QUICK_REPLY', 'Quick reply', ''],
  ['URL', 'Link', 'https://example.com/orders'],
  ['PHONE_NUMBER', 'Call', '+15550100001'],
];
const LANGUAGES = [
  'en',
  'en_US',
  'en_GB',
  'de',
  'es',
  'es_MX',
  'fr',
  'it',
  'nl',
  'pt_BR',
  'pt_PT',
  'pl',
  'tr',
  'ar',
  'he',
  'hi',
  'id',
  'ru',
  'zh_CN',
];

const EMPTY: Draft = {
  name: '',
  language: 'en_US',
  category: 'UTILITY',
  headerKind: 'TEXT',
  header: '',
  headerFile: null,
  body: '',
  footer: '',
  examples: {},
  buttons: [],
  minutes: '5',
  hasAdvice: true,
};

/** The form of a template; null where it has parts that this form cannot make. */
function draftOf(template: Template): Draft | null {
  const { name, language, category, components } = template;
  const known = category === 'AUTHENTICATION' ? ['BODY', 'FOOTER', 'BUTTONS'] : ['HEADER', 'BODY', 'FOOTER', 'BUTTONS'];
  const header = partOf(components, 'HEADER');
  const headerKind = HEADER_KINDS.map(([kind]) => kind).find((kind) => kind === textOf(header?.format).toUpperCase());
  const buttons = partsIn(partOf(components, 'BUTTONS')?.buttons);
  const isPlain =
    components.every(({ type }) => known.includes(type.toUpperCase())) &&
    (header === undefined || headerKind !== undefined) &&
    (category === 'AUTHENTICATION'
      ? buttons.every(({ otp_type: kind }) => kind === 'COPY_CODE')
      : buttons.every(
          ({ type, url }) => BUTTON_TYPES.some(([one]) => one === type) && variablesIn(textOf(url)).length === 0,
        ));
  if (!isPlain) return null;
  const body = partOf(components, 'BODY');
  const footer = partOf(components, 'FOOTER');
  const examples: Record<string, string> = {};
  for (const [part, place] of [
    [header, 'header'],
    [body, 'body'],
  ] as const) {
    for (const [variable, example] of part === undefined ? [] : examplesOf(part))
      examples[`${place}.${variable}`] = example;
  }
  return {
    ...EMPTY,
    name,
    language,
    category,
    headerKind: headerKind ?? 'TEXT',
    header: textOf(header?.text),
    body: textOf(body?.text),
    footer: textOf(footer?.text),
    examples,
    buttons:
      category === 'AUTHENTICATION'
        ? []
        : buttons.map((button) => ({
            type: button.type as ButtonType,
            text: textOf(button.text),
            value: textOf(button.url) || textOf(button.phone_number),
          })),
    minutes: typeof footer?.code_expiration_minutes === 'number' ? String(footer.code_expiration_minutes) : '',
    hasAdvice: body?.add_security_recommendation === true,
  };
}

const variablesOf = (draft: Draft, place: 'header' | 'body'): string[] =>
  place === 'header' && draft.headerKind !== 'TEXT' ? [] : variablesIn(draft[place]);

const isNumbered = (draft: Draft): boolean =>
  [...variablesOf(draft, 'header'), ...variablesOf(draft, 'body')].every((name) => /^\d+$/.test(name));

function textPart(draft: Draft, place: 'header' | 'body'): Part {
  const names = variablesIn(draft[place]);
  const part: Part = { type: place.toUpperCase(), ...(place === 'header' && { format: 'TEXT' }), text: draft[place] };
  if (names.length === 0) return part;
  const values = names
    .toSorted((a, b) => Number(a) - Number(b))
    .map((name) => draft.examples[`${place}.${name}`] ?? '');
  const named = names.map((name) => ({ param_name: name, example: draft.examples[`${place}.${name}`] ?? '' }));
  const example = isNumbered(draft)
    ? { [`${place}_text`]: place === 'body' ? [values] : values }
    : { [`${place}_text_named_params`]: named };
  return { ...part, example };
}

function headerOf(draft: Draft): Part[] {
  const { headerKind: format, headerFile } = draft;
  if (format !== 'TEXT') return [{ type: 'HEADER', format, example: { media_object_id: headerFile?.id ?? '' } }];
  return draft.header === '' ? [] : [textPart(draft, 'header')];
}

/** The parts in the platform's form. */
function componentsOf(draft: Draft): Part[] {
  if (draft.category === 'AUTHENTICATION') {
    return [
      { type: 'BODY', add_security_recommendation: draft.hasAdvice },
      ...(draft.minutes === '' ? [] : [{ type: 'FOOTER', code_expiration_minutes: Number(draft.minutes) }]),
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
    ];
  }
  return [
    ...headerOf(draft),
    textPart(draft, 'body'),
    ...(draft.footer === '' ? [] : [{ type: 'FOOTER', text: draft.footer }]),
    ...(draft.buttons.length === 0 ? [] : [{ type: 'BUTTONS', buttons: draft.buttons.map(buttonOf) }]),
  ];
}

function buttonOf({ type, text, value }: ButtonDraft): Part {
  if (type === 'QUICK_REPLY') return { type, text };
  return { type, text, ...(type === 'URL' ? { url: value } : { phone_number: value }) };
}

const EMOJI = /\p{Emoji_Presentation}|\uFE0F/u;

/** What WhatsApp is known to refuse, by field, in the words of a person who types. The API checks all of it again. */
function problemsOf(draft: Draft): Record<string, string> {
  const found: Record<string, string> = {};
  if (!/^[a-z0-9_]+$/.test(draft.name)) found.name = 'Small letters, digits and underscores.';
  if (!/^[a-z]{2,3}(_[A-Za-z]{2,4})?$/.test(draft.language)) found.language = 'WhatsApp’s code, such as en_US or de.';
  if (draft.category === 'AUTHENTICATION') {
    const minutes = Number(draft.minutes);
    if (draft.minutes !== '' && !(Number.isInteger(minutes) && minutes >= 1 && minutes <= 90))
      found.minutes = '1 to 90 minutes, or nothing.';
    return found;
  }
  const header = draft.headerKind === 'TEXT' ? textProblem(draft.header, MAX.header) : fileProblem(draft);
  if (header !== null) found.header = header;
  else if (variablesOf(draft, 'header').length > 1) found.header = 'At most one variable.';
  const body =
    draft.body.trim() === '' ? 'It needs a text.' : (textProblem(draft.body, MAX.body) ?? edgeProblem(draft.body));
  if (body !== null) found.body = body;
  if (variablesIn(draft.footer).length > 0) found.footer = 'It takes no variables.';
  for (const place of ['header', 'body'] as const) {
    for (const name of variablesOf(draft, place)) {
      const key = `${place}.${name}`;
      if ((draft.examples[key] ?? '').trim() === '') found[key] = 'WhatsApp reviews it with an example.';
    }
  }
  for (const [index, button] of draft.buttons.entries()) {
    const problem = buttonProblem(button);
    if (problem !== null) found[`button.${index}`] = problem;
  }
  const order = orderProblem(draft.buttons);
  if (order !== null) found.buttons = order;
  return found;
}

function textProblem(text: string, longest: number): string | null {
  const names = variablesIn(text);
  const isNumbers = names.every((name) => /^\d+$/.test(name));
  if ([...text].length > longest) return `At most ${longest} characters.`;
  if (/\{\{[^{}]*$|^[^{}]*\}\}/.test(text)) return 'A variable is written {{1}} or {{first_name}}.';
  if (!isNumbers && names.some((name) => !/^[a-z_][a-z0-9_]*$/.test(name)))
    return 'Variables are all numbers, {{1}}, {{2}} …, or all names of small letters, digits and underscores.';
  const missing = names.map((_name, index) => String(index + 1)).find((name) => !names.includes(name));
  if (isNumbers && missing !== undefined) return `Variables count from {{1}} without gaps: {{${missing}}} is missing.`;
  if (/\}\}\{\{/.test(text)) return 'There must be words between two variables.';
  return null;
}

function fileProblem({ headerKind, headerFile }: Draft): string | null {
  if (headerFile === null) return 'WhatsApp reviews it with a file: choose one.';
  const [, wanted] = HEADER_KINDS.find(([kind]) => kind === headerKind) ?? [];
  return headerFile.type.toUpperCase() === headerKind
    ? null
    : `This file is of the type ${headerFile.type}: choose another one for “${wanted}”.`;
}

function edgeProblem(text: string): string | null {
  return /^\{\{|\}\}$/.test(text) ? 'It may neither begin nor end with a variable: add words around it.' : null;
}

function buttonProblem({ type, text, value }: ButtonDraft): string | null {
  if (text.trim() === '') return 'It needs a label.';
  if (variablesIn(text).length > 0 || EMOJI.test(text) || /[\r\n]/.test(text))
    return 'Plain words: no variables, no emoji.';
  if (type === 'URL' && !/^https?:\/\/\S+\.\S+$/.test(value)) return 'It needs an address with https://.';
  if (type === 'PHONE_NUMBER' && !/^\+?\d{8,16}$/.test(value)) return 'It needs a number such as +15550100001.';
  return null;
}

function orderProblem(buttons: readonly ButtonDraft[]): string | null {
  const kinds = buttons.map(({ type }) => type);
  if (kinds.filter((kind) => kind === 'URL').length > 2) return 'At most two links.';
  if (kinds.filter((kind) => kind === 'PHONE_NUMBER').length > 1) return 'At most one call.';
  const replies = kinds.slice(kinds.indexOf('QUICK_REPLY'), kinds.lastIndexOf('QUICK_REPLY'));
  return replies.some((kind) => kind !== 'QUICK_REPLY') ? 'Keep the quick replies together.' : null;
}

interface FormProps {
  connection: string;
  /** The one that is changed; without it, one is made. */
  template?: Template;
  onDone: (template: Template) => void;
  onCancel?: () => void;
}

/** Makes or changes a template; the rules are checked as one types, and the phone's view stands below. */
export function TemplateForm({ connection, template, onDone, onCancel }: FormProps) {
  const [draft, setDraft] = useState<Draft | null>(() => (template === undefined ? EMPTY : draftOf(template)));
  // What was not touched yet is not called wrong.
  const [touched, setTouched] = useState<ReadonlySet<string>>(new Set());
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  if (draft === null) {
    return (
      <div className="form">
        <p className="notice">
          This form makes texts and simple buttons. Change this template with{' '}
          <code>
            PATCH /connections/{'{id}'}/templates/{'{name}'}
          </code>
          : <a href="/docs">Swagger UI</a> has the call.
        </p>
        <div className="row">
          <Button label="Back" onClick={onCancel} />
        </div>
      </div>
    );
  }
  const problems = problemsOf(draft);
  const shown = (field: string): string | null => (touched.has(field) ? (problems[field] ?? null) : null);
  const touch = (field: string): void => setTouched((before) => new Set(before).add(field));
  const set = (field: string, change: Partial<Draft>): void => {
    touch(field);
    setDraft({ ...draft, ...change });
  };
  const components = componentsOf(draft);
  const parameterFormat = isNumbered(draft) ? 'POSITIONAL' : 'NAMED';
  const { name, language, category } = draft;
  const path = `/api/v1/connections/${connection}/templates${template === undefined ? '' : `/${name}`}`;
  const body =
    template === undefined
      ? {
          name,
          language,
          category,
          components,
          ...(parameterFormat === 'NAMED' && { parameter_format: parameterFormat }),
        }
      : { language, components };
  const save = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (Object.keys(problems).length > 0) {
      setTouched(new Set(Object.keys(problems)));
      return;
    }
    setBusy(true);
    setError(null);
    try {
      onDone(await submit(connection, template?.name ?? null, body));
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <form className="form template-form" noValidate onSubmit={(event) => void save(event)}>
      {template === undefined && <Frame draft={draft} shown={shown} touch={touch} set={set} />}
      {category === 'AUTHENTICATION' ? (
        <>
          <p className="hint">WhatsApp writes the words of a code itself, in the language of the template.</p>
          <TextField
            label="The code expires after (minutes)"
            problem={shown('minutes')}
            inputMode="numeric"
            value={draft.minutes}
            onText={(text) => set('minutes', { minutes: text.replaceAll(/\D/g, '') })}
          />
          <CheckField
            label="Advise not to share the code"
            checked={draft.hasAdvice}
            onCheck={(isOn) => set('hasAdvice', { hasAdvice: isOn })}
          />
        </>
      ) : (
        <>
          <Line label="Kind of header" problem={null}>
            <Select
              value={draft.headerKind}
              options={HEADER_KINDS}
              onValue={(value) => setDraft({ ...draft, headerKind: value })}
            />
          </Line>
          {draft.headerKind === 'TEXT' ? (
            <TextField
              label="Header (optional)"
              problem={shown('header')}
              dir="auto"
              maxLength={MAX.header}
              value={draft.header}
              onBlur={() => touch('header')}
              onText={(text) => set('header', { header: text })}
            />
          ) : (
            <div className={shown('header') === null ? 'field' : 'field is-wrong'}>
              <span>File for the review; each message has its own</span>
              {draft.headerFile !== null && <bdi className="file-name">{draft.headerFile.filename}</bdi>}
              <Upload connectionId={connection} onDone={(headerFile) => set('header', { headerFile })} />
              {shown('header') !== null && <small role="alert">{shown('header')}</small>}
            </div>
          )}
          <Line label={`Body (${[...draft.body].length} of ${MAX.body})`} problem={shown('body')}>
            <textarea
              dir="auto"
              rows={5}
              placeholder="Hello {{1}}, your order {{2}} is on its way."
              value={draft.body}
              onBlur={() => touch('body')}
              onChange={(event) => set('body', { body: event.target.value })}
            />
          </Line>
          {(['header', 'body'] as const).flatMap((place) =>
            variablesOf(draft, place).map((variable) => {
              const key = `${place}.${variable}`;
              return (
                <TextField
                  key={key}
                  label={`Example of {{${variable}}} in the ${place}`}
                  problem={shown(key)}
                  dir="auto"
                  value={draft.examples[key] ?? ''}
                  onBlur={() => touch(key)}
                  onText={(text) => set(key, { examples: { ...draft.examples, [key]: text } })}
                />
              );
            }),
          )}
          <TextField
            label="Footer (optional)"
            problem={shown('footer')}
            dir="auto"
            maxLength={MAX.footer}
            value={draft.footer}
            onText={(text) => set('footer', { footer: text })}
          />
          <Buttons draft={draft} shown={shown} touch={touch} set={set} />
        </>
      )}
      <section aria-label="Preview">
        <h2>On a phone</h2>
        <TemplateView parts={components} withExamples />
      </section>
      {template !== undefined && (
        <p className="notice">WhatsApp reviews the change. Until it is approved, the template cannot be sent.</p>
      )}
      {error !== null && <Problem error={error} />}
      <div className="row">
        <Button
          submit
          primary
          label={template === undefined ? 'Hand in for review' : 'Hand in the change'}
          disabled={busy}
        />
        {onCancel !== undefined && <Button label="Back" onClick={onCancel} />}
        <CopyButton quiet label="curl" text={curlOf(template === undefined ? 'POST' : 'PATCH', path, body)} />
      </div>
    </form>
  );
}

async function submit(connection: string, name: string | null, body: object): Promise<Template> {
  if (name === null) {
    const made = body as Schemas['CreateTemplateFromComponents'];
    const params = { path: { id: connection } };
    return (await dataOf(api.POST('/api/v1/connections/{id}/templates', { params, body: made }))).data;
  }
  const change = body as Schemas['EditTemplate'];
  const params = { path: { id: connection, name } };
  return (await dataOf(api.PATCH('/api/v1/connections/{id}/templates/{name}', { params, body: change }))).data;
}

interface FieldsProps {
  draft: Draft;
  shown: (field: string) => string | null;
  touch: (field: string) => void;
  set: (field: string, change: Partial<Draft>) => void;
}

function Line({ label, problem, children }: { label: string; problem: string | null; children: ReactNode }) {
  return (
    <label className={problem === null ? 'field' : 'field is-wrong'}>
      <span>{label}</span>
      {children}
      {problem !== null && <small role="alert">{problem}</small>}
    </label>
  );
}

function Frame({ draft, shown, touch, set }: FieldsProps) {
  return (
    <>
      <TextField
        label="Name"
        problem={shown('name')}
        autoComplete="off"
        spellCheck={false}
        placeholder="order_update"
        maxLength={MAX.name}
        value={draft.name}
        onBlur={() => touch('name')}
        onText={(text) => set('name', { name: text.toLowerCase().replaceAll(/[\s-]/g, '_') })}
      />
      <TextField
        label="Language"
        problem={shown('language')}
        list="template-languages"
        autoComplete="off"
        spellCheck={false}
        value={draft.language}
        onBlur={() => touch('language')}
        onText={(text) => set('language', { language: text })}
      />
      <Line label="Category" problem={null}>
        <Select value={draft.category} options={CATEGORIES} onValue={(value) => set('category', { category: value })} />
      </Line>
      <datalist id="template-languages">
        {LANGUAGES.map((language) => (
          <option key={language} value={language} />
        ))}
      </datalist>
    </>
  );
}

function Buttons({ draft, shown, touch, set }: FieldsProps) {
  const change = (index: number, part: Partial<ButtonDraft>): void =>
    set(`button.${index}`, {
      buttons: draft.buttons.map((button, at) => (at === index ? { ...button, ...part } : button)),
    });
  return (
    <fieldset className="button-drafts">
      <legend>Buttons (optional)</legend>
      {draft.buttons.map((button, index) => {
        const problem = shown(`button.${index}`);
        const [, , placeholder = ''] = BUTTON_TYPES.find(([type]) => type === button.type) ?? [];
        return (
          <div key={index} className="button-draft">
            <Select
              className="chip"
              aria-label={`Kind of button ${index + 1}`}
              value={button.type}
              options={BUTTON_TYPES}
              onValue={(value) => change(index, { type: value, value: '' })}
            />
            <input
              dir="auto"
              aria-label={`Label of button ${index + 1}`}
              placeholder="Label"
              maxLength={MAX.label}
              value={button.text}
              onBlur={() => touch(`button.${index}`)}
              onChange={(event) => change(index, { text: event.target.value })}
            />
            {button.type !== 'QUICK_REPLY' && (
              <input
                aria-label={button.type === 'URL' ? `Address of button ${index + 1}` : `Number of button ${index + 1}`}
                placeholder={placeholder}
                maxLength={button.type === 'URL' ? MAX.url : MAX.phone}
                value={button.value}
                onBlur={() => touch(`button.${index}`)}
                onChange={(event) => change(index, { value: event.target.value })}
              />
            )}
            <Button
              quiet
              label="Remove"
              onClick={() => set('buttons', { buttons: draft.buttons.filter((_button, at) => at !== index) })}
            />
            {problem !== null && (
              <small role="alert" className="wrong">
                {problem}
              </small>
            )}
          </div>
        );
      })}
      {shown('buttons') !== null && (
        <small role="alert" className="wrong">
          {shown('buttons')}
        </small>
      )}
      {draft.buttons.length < MAX.buttons && (
        <Button
          label="Add a button"
          onClick={() => set('buttons', { buttons: [...draft.buttons, { type: 'QUICK_REPLY', text: '', value: '' }] })}
        />
      )}
    </fieldset>
  );
}
