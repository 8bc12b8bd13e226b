import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { api, dataOf, type Schemas } from './api.ts';
import { Button, Select } from './controls.tsx';
import { type MediaFile, MediaLine, Upload } from './media-file.tsx';
import { useCan } from './session.ts';
import { Problem, Skeleton } from './ui.tsx';

export type Template = Schemas['TemplateResponse'];
export type Message = Schemas['SendMessage'];

export const KINDS = {
  text: 'Text',
  template: 'Template',
  file: 'File',
  buttons: 'Buttons',
  list: 'List',
  location: 'Location',
} as const;
export type Kind = keyof typeof KINDS;

export interface Draft {
  connection: string;
  to: string;
  kind: Kind;
  /** The words of a text, of buttons and of a list. */
  text: string;
  template: string;
  /** By `component.name`. */
  values: Record<string, string>;
  file: MediaFile | null;
  caption: string;
  header: string;
  footer: string;
  buttons: readonly string[];
  opener: string;
  rows: readonly { title: string; description: string }[];
  place: { latitude: string; longitude: string; name: string; address: string };
}

export const BLANK = {
  text: '',
  template: '',
  values: {},
  file: null,
  caption: '',
  header: '',
  footer: '',
  buttons: ['Yes', 'No'],
  opener: 'Choose',
  rows: [
    { title: 'Today', description: '' },
    { title: 'Tomorrow', description: '' },
  ],
  place: { latitude: '', longitude: '', name: '', address: '' },
} satisfies Partial<Draft>;

const MOST_BUTTONS = 3;
const MOST_ROWS = 10;
export const WITH_CAPTION = ['image', 'video', 'document'];

const given = (text: string): boolean => text.trim() !== '';
/** The file in the head of a template; null: it has none. */
export const headerFormat = (template: Template | null): string | null => {
  const header = template?.components.find(({ type }) => type === 'HEADER');
  const format = header !== undefined && 'format' in header ? header.format : null;
  return typeof format === 'string' && ['IMAGE', 'VIDEO', 'DOCUMENT'].includes(format) ? format.toLowerCase() : null;
};

/** What the template's text, its head and its buttons want, in their order. */
export const variablesOf = (template: Template | null): Template['variables'] =>
  (template?.variables ?? []).filter(
    ({ component }) =>
      component === 'body' || component === 'button' || (component === 'header' && headerFormat(template) === null),
  );
export const keyOf = ({ component, name, button_index: at }: Template['variables'][number]): string =>
  `${component}.${at ?? ''}.${name}`;

/** What stands over its field. */
export const labelOf = ({ component, name, button_index: at }: Template['variables'][number]): string =>
  `${component} ${at === null ? name : at + 1}`;

/** The message's own part of the body; null while something is missing. */
export function contentOf(draft: Draft, template: Template | null): Record<string, unknown> | null {
  const { text, file, caption, place } = draft;
  switch (draft.kind) {
    case 'text':
      return given(text) ? { type: 'text', text: { body: text } } : null;
    case 'template':
      return template === null ? null : templateOf(draft, template);
    case 'file':
      if (file === null) return null;
      return {
        type: file.type,
        media: {
          id: file.id,
          ...(given(caption) && WITH_CAPTION.includes(file.type) && { caption }),
          ...(file.type === 'document' && file.filename !== null && { filename: file.filename }),
          ...(file.voice && { voice: true }),
        },
      };
    case 'location': {
      const { latitude, longitude, name, address } = place;
      if (!given(latitude) || !given(longitude)) return null;
      const words = { ...(given(name) && { name }), ...(given(address) && { address }) };
      return { type: 'location', location: { latitude: latitude.trim(), longitude: longitude.trim(), ...words } };
    }
    default:
      return given(text) ? { type: 'interactive', interactive: interactiveOf(draft) } : null;
  }
}

function templateOf({ values, file }: Draft, template: Template): Record<string, unknown> | null {
  const wanted = variablesOf(template);
  const of = (component: string): string[] =>
    wanted.filter((variable) => variable.component === component).map((variable) => values[keyOf(variable)] ?? '');
  const needsFile = headerFormat(template) !== null;
  if (needsFile && file === null) return null;
  const parameters = Object.fromEntries(
    [['header', of('header')] as const, ['body', of('body')] as const, ['buttons', of('button')] as const].filter(
      ([, texts]) => texts.length > 0,
    ),
  );
  const { name, language } = template;
  return {
    type: 'template',
    template: { name, language, ...(wanted.length > 0 && { parameters }) },
    ...(needsFile && { media_object_id: file?.id }),
  };
}

function interactiveOf({ kind, text, header, footer, buttons, opener, rows }: Draft): Record<string, unknown> {
  const common = {
    ...(given(header) && { header: { type: 'text', text: header } }),
    body: { text },
    ...(given(footer) && { footer: { text: footer } }),
  };
  if (kind === 'buttons') {
    const replies = buttons.map((title, at) => ({ type: 'reply', reply: { id: `button-${at + 1}`, title } }));
    return { type: 'button', ...common, action: { buttons: replies } };
  }
  const listed = rows.map(({ title, description }, at) => ({
    id: `row-${at + 1}`,
    title,
    ...(given(description) && { description }),
  }));
  return { type: 'list', ...common, action: { button: opener, sections: [{ rows: listed }] } };
}

/** What the check says of one field. */
export interface Note {
  isBad: boolean;
  code: string;
  message: string;
  field: string;
  docUrl: string | null;
}

export const isOf = (path: string, { field }: Note): boolean =>
  field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`);

/** The notes that no field of this kind shows. */
export function otherNotes(notes: readonly Note[], draft: Draft): Note[] {
  const paths = FIELD_PATHS[draft.kind];
  return notes.filter((note) => !['to', ...paths].some((path) => isOf(path, note)));
}

const INTERACTIVE = ['interactive.header', 'interactive.body', 'interactive.footer', 'interactive.action'];
const FIELD_PATHS: Readonly<Record<Kind, readonly string[]>> = {
  text: ['text.body'],
  template: ['template'],
  file: ['media'],
  buttons: INTERACTIVE,
  list: INTERACTIVE,
  location: ['location'],
};

interface FieldProps {
  label: string;
  path: string;
  notes: readonly Note[];
  children: ReactNode;
}

/** A labelled field, and below it what the check says of it. */
export function Field({ label, path, notes, children }: FieldProps) {
  return (
    <div className="field-with-notes">
      <label className="field">
        <span>{label}</span>
        {children}
      </label>
      <Notes path={path} notes={notes} />
    </div>
  );
}

function Notes({ path, notes }: { path: string; notes: readonly Note[] }) {
  return notes
    .filter((note) => isOf(path, note))
    .map(({ field, message, isBad }) => (
      <p key={field} className={isBad ? 'note bad' : 'note warn'}>
        {message}
      </p>
    ));
}

interface ContentProps {
  draft: Draft;
  set: (changes: Partial<Draft>) => void;
  notes: readonly Note[];
  templates: readonly Template[] | undefined;
  template: Template | null;
}

export function ContentFields(props: ContentProps) {
  const { draft, set, notes } = props;
  const { kind, text } = draft;
  if (kind === 'template') return <TemplateFields {...props} />;
  if (kind === 'location') return <PlaceFields {...props} />;
  if (kind === 'file') {
    return (
      <>
        <FileChooser draft={draft} set={set} />
        {(draft.file === null || WITH_CAPTION.includes(draft.file.type)) && (
          <Field label="Caption" path="media.caption" notes={notes}>
            <Words rows={2} most={1024} value={draft.caption} onChange={(caption) => set({ caption })} />
          </Field>
        )}
      </>
    );
  }
  const isText = kind === 'text';
  return (
    <>
      {!isText && (
        <Field label="Header (may be empty)" path="interactive.header" notes={notes}>
          <Line most={60} value={draft.header} onChange={(header) => set({ header })} />
        </Field>
      )}
      <Field label="Text" path={isText ? 'text.body' : 'interactive.body'} notes={notes}>
        <Words rows={4} most={isText ? 4096 : 1024} value={text} onChange={(next) => set({ text: next })} />
      </Field>
      {!isText && (
        <Field label="Footer (may be empty)" path="interactive.footer" notes={notes}>
          <Line most={60} value={draft.footer} onChange={(footer) => set({ footer })} />
        </Field>
      )}
      {kind === 'buttons' && <ButtonFields {...props} />}
      {kind === 'list' && <RowFields {...props} />}
    </>
  );
}

interface InputProps {
  value: string;
  onChange: (text: string) => void;
  most?: number;
  placeholder?: string;
  label?: string;
}

function Line({ value, onChange, most, placeholder, label }: InputProps) {
  return (
    <input
      dir="auto"
      autoComplete="off"
      aria-label={label}
      maxLength={most}
      placeholder={placeholder}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function Words({ value, onChange, most, rows }: InputProps & { rows: number }) {
  return (
    <textarea
      dir="auto"
      rows={rows}
      maxLength={most}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}

function TemplateFields({ draft, set, notes, templates, template }: ContentProps) {
  const format = headerFormat(template);
  return (
    <>
      <Field label="Template" path="template" notes={notes}>
        <Select
          value={draft.template}
          options={[
            ['', templates === undefined ? 'Loading …' : 'Choose an approved template'],
            ...(templates?.map(({ id, name, language, category }) => [
              id,
              `${name} · ${language} · ${category.toLowerCase()}`,
            ]) ?? []),
          ]}
          onValue={(value) => set({ template: value, values: {} })}
        />
      </Field>
      {templates?.length === 0 && <p className="hint">This number has no approved template.</p>}
      {format !== null && <FileChooser draft={draft} set={set} type={format} />}
      {variablesOf(template).map((variable) => {
        const key = keyOf(variable);
        return (
          <label key={key} className="field">
            <span>{labelOf(variable)}</span>
            <Line
              placeholder={variable.example ?? ''}
              value={draft.values[key] ?? ''}
              onChange={(value) => set({ values: { ...draft.values, [key]: value } })}
            />
          </label>
        );
      })}
    </>
  );
}

function PlaceFields({ draft, set, notes }: ContentProps) {
  const { place } = draft;
  const field = (name: keyof Draft['place'], label: string, placeholder: string): ReactNode => (
    <Field label={label} path={`location.${name}`} notes={notes}>
      <Line
        value={place[name]}
        placeholder={placeholder}
        onChange={(value) => set({ place: { ...place, [name]: value } })}
      />
    </Field>
  );
  return (
    <>
      <div className="two-fields">
        {field('latitude', 'Latitude', '53.3498')}
        {field('longitude', 'Longitude', '-6.2603')}
      </div>
      {field('name', 'Name (may be empty)', 'Lighthouse Coffee')}
      {field('address', 'Address (may be empty)', '1 Harbour Road, Dublin')}
    </>
  );
}

const without = <T,>(list: readonly T[], at: number): T[] => list.filter((_, index) => index !== at);
const withAt = <T,>(list: readonly T[], at: number, value: T): T[] =>
  list.map((one, index) => (index === at ? value : one));

interface EntriesProps {
  title: string;
  count: number;
  most: number;
  onAdd: () => void;
  onRemove: (at: number) => void;
  entry: (at: number) => ReactNode;
}

/** One line for each entry, and a button for one more. */
function Entries({ title, count, most, onAdd, onRemove, entry }: EntriesProps) {
  return (
    <fieldset className="entries">
      <legend>{title}</legend>
      {Array.from({ length: count }, (_, at) => (
        <div key={at} className="entry">
          <div>{entry(at)}</div>
          <Button
            quiet
            icon="close"
            aria-label={`Remove ${at + 1}`}
            disabled={count === 1}
            onClick={() => onRemove(at)}
          />
        </div>
      ))}
      <Button icon="plus" label="Add" disabled={count >= most} onClick={onAdd} />
    </fieldset>
  );
}

function ButtonFields({ draft: { buttons }, set, notes }: ContentProps) {
  return (
    <Entries
      title={`Buttons, ${MOST_BUTTONS} at most`}
      count={buttons.length}
      most={MOST_BUTTONS}
      onAdd={() => set({ buttons: [...buttons, ''] })}
      onRemove={(at) => set({ buttons: without(buttons, at) })}
      entry={(at) => (
        <>
          <Line
            label={`Button ${at + 1}`}
            value={buttons[at] ?? ''}
            onChange={(title) => set({ buttons: withAt(buttons, at, title) })}
          />
          <Notes path={`interactive.action.buttons[${at}]`} notes={notes} />
        </>
      )}
    />
  );
}

function RowFields({ draft: { rows, opener }, set, notes }: ContentProps) {
  const change = (at: number, part: Partial<Draft['rows'][number]>): void =>
    set({ rows: rows.map((row, index) => (index === at ? { ...row, ...part } : row)) });
  return (
    <>
      <Field label="The button that opens the list" path="interactive.action.button" notes={notes}>
        <Line value={opener} onChange={(next) => set({ opener: next })} />
      </Field>
      <Entries
        title={`Choices, ${MOST_ROWS} at most`}
        count={rows.length}
        most={MOST_ROWS}
        onAdd={() => set({ rows: [...rows, { title: '', description: '' }] })}
        onRemove={(at) => set({ rows: without(rows, at) })}
        entry={(at) => (
          <>
            <div className="two-fields">
              <Line
                label={`Choice ${at + 1}`}
                placeholder="Title"
                value={rows[at]?.title ?? ''}
                onChange={(title) => change(at, { title })}
              />
              <Line
                label={`Description ${at + 1}`}
                placeholder="Description"
                value={rows[at]?.description ?? ''}
                onChange={(description) => change(at, { description })}
              />
            </div>
            <Notes path={`interactive.action.sections[0].rows[${at}]`} notes={notes} />
          </>
        )}
      />
    </>
  );
}

const SHOWN_FILES = 12;

/** The file to send: one that is there, or a new one. @param type: only files of this type fit */
export function FileChooser({ draft, set, type }: Pick<ContentProps, 'draft' | 'set'> & { type?: string }) {
  const can = useCan();
  const [wrong, setWrong] = useState<string | null>(null);
  const { connection, file } = draft;
  const choose = (next: MediaFile): void => {
    const fits = type === undefined || next.type === type;
    setWrong(fits ? null : `This template takes a file of the type ${type}; that one is ${next.type}.`);
    if (fits) set({ file: next });
  };
  if (file !== null && (type === undefined || file.type === type)) {
    return (
      <div className="field">
        <span>File</span>
        <div className="media-line is-chosen">
          <MediaLine file={file} />
          <Button label="Change" onClick={() => set({ file: null })} />
        </div>
      </div>
    );
  }
  return (
    <div className="field">
      <span>File</span>
      {can('media:write') && <Upload connectionId={connection} onDone={choose} />}
      {wrong !== null && <p className="note bad">{wrong}</p>}
      {can('media:read') && <RecentFiles connectionId={connection} type={type} onChoose={choose} />}
      {!can('media:read') && !can('media:write') && (
        <p className="hint">
          This key needs the scope <code>media:write</code> to upload, or <code>media:read</code> to choose.
        </p>
      )}
    </div>
  );
}

interface RecentFilesProps {
  connectionId: string;
  type: string | undefined;
  onChoose: (file: MediaFile) => void;
}

function RecentFiles({ connectionId, type, onChoose }: RecentFilesProps) {
  const { data, error } = useQuery({
    queryKey: ['media', 'recent', connectionId, type],
    queryFn: async ({ signal }) => {
      const query = {
        connection_id: connectionId,
        direction: 'outbound' as const,
        limit: SHOWN_FILES,
        ...(type !== undefined && { type: type as MediaFile['type'] }),
      };
      return (await dataOf(api.GET('/api/v1/media', { params: { query }, signal }))).data;
    },
  });
  if (error !== null) return <Problem error={error} />;
  if (data === undefined) return <Skeleton lines={2} />;
  if (data.length === 0) return <p className="hint">No file was uploaded for this number yet.</p>;
  return (
    <div className="media-choice" role="list" aria-label="Uploaded files">
      {data.map((one) => (
        <div key={one.id} role="listitem">
          <button type="button" className="media-line" onClick={() => onChoose(one)}>
            <MediaLine file={one} />
          </button>
        </div>
      ))}
    </div>
  );
}
