import {
  type ClipboardEvent,
  type Dispatch,
  type FormEvent,
  type KeyboardEvent,
  type SetStateAction,
  useEffect,
  useRef,
  useState,
} from 'react';
import { api, type MessageRow } from './api.ts';
import { Bubble } from './bubble.tsx';
import { Button } from './controls.tsx';
import { type Conversation, excerptOf, windowLeft } from './conversation.ts';
import { Dialog } from './dialog.tsx';
import { type MediaFile, MediaLine, UploadProgress, useUpload } from './media-file.tsx';
import { CheckResult, notesOf, previewOf, useCheck, useSending, useTemplates } from './send.tsx';
import {
  BLANK,
  ContentFields,
  contentOf,
  type Draft,
  type Message,
  keyOf,
  otherNotes,
  variablesOf,
  WITH_CAPTION,
} from './send-content.tsx';
import { useCan } from './session.ts';
import { Icon } from './icon.tsx';
import { duration, Problem, useNow } from './ui.tsx';

const CLOCK_MS = 15_000;
const MOST_TEXT = 4_096;
const MOST_CAPTION = 1_024;
/** Stored where a person turns it off. */
const MARKS_READ = 'herald.answer-marks-read';

function readsOnAnswer(): boolean {
  try {
    return localStorage.getItem(MARKS_READ) !== 'no';
  } catch {
    return true;
  }
}

function keepReadsOnAnswer(isOn: boolean): void {
  try {
    if (isOn) localStorage.removeItem(MARKS_READ);
    else localStorage.setItem(MARKS_READ, 'no');
  } catch {
    // A browser that keeps nothing asks again on the next page.
  }
}

interface ComposerProps {
  conversation: Conversation;
  /** The oldest first. */
  rows: readonly MessageRow[];
  quoted: MessageRow | null;
  onQuote: Dispatch<SetStateAction<MessageRow | null>>;
  /** A file that was dropped on the thread. */
  dropped: File | null;
  onDropTaken: () => void;
  onSent: () => void;
}

/** Answers in a conversation: words, a file, a quote, a template. */
export function Composer(props: ComposerProps) {
  const { conversation, rows, onSent } = props;
  const can = useCan();
  const now = useNow(CLOCK_MS);
  const [isChoosing, setChoosing] = useState(false);
  const [marksRead, setMarksRead] = useState(readsOnAnswer);
  if (!can('messages:write')) return null;
  const left = windowLeft(conversation, now);
  const sent = (): void => {
    const last = rows.findLast(({ direction }) => direction === 'inbound');
    const marked =
      marksRead && conversation.unread_count > 0 && last !== undefined
        ? api.POST('/api/v1/messages/{id}/read', { params: { path: { id: last.id } }, body: {} })
        : Promise.resolve();
    // What could not be marked stays unread, and its button says so.
    void marked.catch(() => undefined).then(onSent);
  };
  return (
    <div className="composer">
      {left === 0 ? (
        <div className="writer closed">
          <p>The customer has not written in the last 24 hours. Only a template can be sent.</p>
          <Button label="Send a template" onClick={() => setChoosing(true)} />
        </div>
      ) : (
        <Writer {...props} left={left} onSent={sent} onTemplate={() => setChoosing(true)} />
      )}
      <label className="check composer-switch">
        <input
          type="checkbox"
          role="switch"
          checked={marksRead}
          onChange={({ target: { checked } }) => {
            keepReadsOnAnswer(checked);
            setMarksRead(checked);
          }}
        />
        <span>Answering marks as read</span>
      </label>
      {isChoosing && <TemplateDialog conversation={conversation} onSent={sent} onClose={() => setChoosing(false)} />}
    </div>
  );
}

type WriterProps = ComposerProps & { left: number; onTemplate: () => void };

function Writer({ conversation, quoted, onQuote, dropped, onDropTaken, left, onSent, onTemplate }: WriterProps) {
  const can = useCan();
  const [text, setText] = useState('');
  const [file, setFile] = useState<MediaFile | null>(null);
  const { busy, error, send } = useSending(onSent);
  const upload = useUpload({ connectionId: conversation.connection_id, onDone: setFile });
  const words = useRef<HTMLTextAreaElement>(null);
  const mayUpload = can('media:write');
  const { start } = upload;
  useEffect(() => {
    if (dropped === null) return;
    onDropTaken();
    if (mayUpload) void start(dropped);
  });
  const quotedId = quoted?.id;
  useEffect(() => {
    if (quotedId !== undefined) words.current?.focus();
  }, [quotedId]);
  // A sound and a sticker have no text at WhatsApp: it is kept for the next message.
  const takesText = file === null || WITH_CAPTION.includes(file.type);
  const isReady = !busy && upload.running === null && (file !== null || text.trim() !== '');
  const submit = async (): Promise<void> => {
    if (!isReady) return;
    const { id, connection_id: connection } = conversation;
    const kind = file === null ? ('text' as const) : ('file' as const);
    const draft = { ...BLANK, connection, to: '', kind, text, file, caption: text };
    const reply = quoted === null ? {} : { reply_to_message_id: quoted.id };
    if (!(await send({ conversation_id: id, ...contentOf(draft, null), ...reply }))) return;
    // What was written, attached or quoted meanwhile is of the next message.
    if (takesText) setText((now) => (now.startsWith(text) ? now.slice(text.length) : now));
    setFile((now) => (now === file ? null : now));
    onQuote((now) => (now?.id === quotedId ? null : now));
    words.current?.focus();
  };
  const onKey = (event: KeyboardEvent): void => {
    if (event.key === 'Escape' && quoted !== null) onQuote(null);
    if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    void submit();
  };
  const onPaste = (event: ClipboardEvent): void => {
    const [pasted] = event.clipboardData.files;
    if (pasted === undefined || !mayUpload) return;
    event.preventDefault();
    void start(pasted);
  };
  return (
    <>
      {(error ?? upload.error) !== null && <Problem error={error ?? upload.error} />}
      {quoted !== null && (
        <div className="composer-line">
          <Icon name="reply" />
          <span className="composer-words">
            Reply to <bdi>{excerptOf(quoted)}</bdi>
          </span>
          <Button quiet icon="close" aria-label="Do not quote" onClick={() => onQuote(null)} />
        </div>
      )}
      {upload.running !== null && <UploadProgress running={upload.running} onCancel={upload.cancel} />}
      {file !== null && (
        <div className="composer-line media-line">
          <MediaLine file={file} />
          <Button quiet icon="close" aria-label="Remove the file" onClick={() => setFile(null)} />
        </div>
      )}
      {!takesText && text.trim() !== '' && (
        <p className="hint composer-hint">WhatsApp shows no text with this file. It is kept for your next message.</p>
      )}
      <form
        className="writer"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void submit();
        }}
      >
        <span className="composer-tools">
          {mayUpload && (
            <label className="button quiet" title="Attach a file; you can also paste or drop it">
              <Icon name="clip" />
              <span className="hidden">Attach a file</span>
              <input
                type="file"
                className="hidden"
                onChange={(event) => {
                  void start(event.target.files?.[0]);
                  event.target.value = '';
                }}
              />
            </label>
          )}
          <Button quiet icon="template" aria-label="Send a template" title="Send a template" onClick={onTemplate} />
        </span>
        <textarea
          ref={words}
          aria-label="Answer"
          placeholder={file === null ? 'Answer' : takesText ? 'Text with the file' : 'Sent without text'}
          dir="auto"
          rows={2}
          maxLength={file === null ? MOST_TEXT : MOST_CAPTION}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKey}
          onPaste={onPaste}
        />
        <span className="send-side">
          <small title="After that only a template can be sent">{duration(left)} left</small>
          <Button submit primary label="Answer" disabled={!isReady} />
        </span>
      </form>
    </>
  );
}

interface TemplateDialogProps {
  conversation: Conversation;
  onSent: () => void;
  onClose: () => void;
}

function TemplateDialog({ conversation, onSent, onClose }: TemplateDialogProps) {
  const can = useCan();
  const [draft, setDraft] = useState<Draft>({
    ...BLANK,
    connection: conversation.connection_id,
    to: '',
    kind: 'template',
  });
  const set = (changes: Partial<Draft>): void => setDraft((before) => ({ ...before, ...changes }));
  const templates = useTemplates(draft);
  const template = templates.data?.find(({ id }) => id === draft.template) ?? null;
  const content = contentOf(draft, template);
  const body = content === null ? null : ({ conversation_id: conversation.id, ...content } as Message);
  const check = useCheck(body);
  const isFilled = variablesOf(template).every((variable) => (draft.values[keyOf(variable)] ?? '').trim() !== '');
  const notes = isFilled ? notesOf(check.data, check.error) : [];
  const { busy, error, send } = useSending(onSent);
  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (body !== null && isFilled && (await send(body))) onClose();
  };
  return (
    <Dialog title="Send a template" className="form-dialog" onClose={onClose}>
      {can('templates:read') ? (
        <form className="dialog-form" onSubmit={(event) => void submit(event)}>
          <ContentFields draft={draft} set={set} notes={notes} templates={templates.data} template={template} />
          {templates.error !== null && <Problem error={templates.error} />}
          {body !== null && (
            <>
              <div className="chat">
                <Bubble side="mine" content={previewOf(draft, check.data)} />
              </div>
              {isFilled && (
                <CheckResult
                  check={check.data}
                  error={error === null ? check.error : null}
                  notes={otherNotes(notes, draft)}
                  kind="template"
                  onTemplate={() => undefined}
                />
              )}
            </>
          )}
          {error !== null && <Problem error={error} />}
          <div className="row">
            <Button
              submit
              primary
              label="Send"
              disabled={busy || body === null || !isFilled || notes.some(({ isBad }) => isBad)}
            />
            <Button label="Back" onClick={onClose} />
          </div>
        </form>
      ) : (
        <p>
          This key needs the scope <code>templates:read</code> to choose a template.
        </p>
      )}
    </Dialog>
  );
}
