import { useQuery } from '@tanstack/react-query';
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { answered, credentials, api, dataOf, type Schemas } from './api.ts';
import { Button } from './controls.tsx';
import { session } from './session.ts';
import { Icon } from './icon.tsx';
import { Problem } from './ui.tsx';

export type MediaFile = Schemas['MediaResponse'];

const UNITS = ['bytes', 'KB', 'MB', 'GB'] as const;

export function sizeText(bytes: number): string {
  const unit = Math.min(Math.floor(Math.log2(Math.max(bytes, 1)) / 10), UNITS.length - 1);
  const size = bytes / 1024 ** unit;
  return `${size < 10 && unit > 0 ? size.toFixed(1) : Math.round(size)} ${UNITS[unit]}`;
}

/** By XMLHttpRequest: fetch reports no progress of what it sends. */
function uploadFile(
  file: File,
  connectionId: string,
  onProgress: (part: number) => void,
  signal: AbortSignal,
): Promise<MediaFile> {
  const key = session.activeKey() ?? '';
  const request = new XMLHttpRequest();
  const form = new FormData();
  form.set('connection_id', connectionId);
  form.set('file', file, file.name);
  signal.addEventListener('abort', () => request.abort());
  return answered(
    key,
    new Promise<Response>((resolve, reject) => {
      request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / Math.max(total, 1)));
      request.addEventListener('load', () => resolve(new Response(request.responseText, { status: request.status })));
      request.addEventListener('error', () => reject(new TypeError('no answer')));
      request.addEventListener('abort', () => reject(new DOMException('cancelled', 'AbortError')));
      request.open('POST', '/api/v1/media');
      for (const [name, value] of Object.entries(credentials(key))) request.setRequestHeader(name, value);
      request.send(form);
    }),
    { signal, method: 'POST' },
  ).then(async (response) => ((await response.json()) as Schemas['SingleMediaResponse']).data);
}

interface UploadProps {
  connectionId: string;
  onDone: (file: MediaFile) => void;
}

interface Uploading {
  running: { name: string; part: number } | null;
  error: unknown;
  start: (file: File | undefined) => Promise<void>;
  cancel: () => void;
}

/** Uploads one file at a time. */
export function useUpload({ connectionId, onDone }: UploadProps): Uploading {
  const [running, setRunning] = useState<{ name: string; part: number } | null>(null);
  const [error, setError] = useState<unknown>(null);
  const life = useRef<AbortController>(undefined);
  useEffect(() => () => life.current?.abort(), []);
  const start = async (file: File | undefined): Promise<void> => {
    if (file === undefined || running !== null) return;
    const ending = new AbortController();
    life.current = ending;
    setError(null);
    setRunning({ name: file.name, part: 0 });
    try {
      onDone(await uploadFile(file, connectionId, (part) => setRunning({ name: file.name, part }), ending.signal));
    } catch (failure) {
      if (!ending.signal.aborted) setError(failure);
    }
    setRunning(null);
  };
  return { running, error, start, cancel: () => life.current?.abort() };
}

export function UploadProgress({
  running,
  onCancel,
}: {
  running: { name: string; part: number };
  onCancel: () => void;
}) {
  return (
    <div className="upload">
      <bdi className="file-name">{running.name}</bdi>
      <progress aria-label={`Upload of ${running.name}`} value={running.part} max={1} />
      <Button label="Cancel" onClick={onCancel} />
    </div>
  );
}

interface FileDropProps {
  accept?: string;
  onFile: (file: File | undefined) => void;
  children: ReactNode;
}

/** Takes a file that is chosen or dropped. */
export function FileDrop({ accept, onFile, children }: FileDropProps) {
  const [isOver, setOver] = useState(false);
  return (
    <label
      className={isOver ? 'upload is-over' : 'upload'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        onFile(event.dataTransfer.files[0]);
      }}
    >
      <Icon name="plus" />
      <span>{children}</span>
      <input
        type="file"
        accept={accept}
        className="hidden"
        onChange={(event) => {
          onFile(event.target.files?.[0]);
          event.target.value = '';
        }}
      />
    </label>
  );
}

/** Takes a file that is chosen or dropped, and uploads it. */
export function Upload(props: UploadProps) {
  const { running, error, start, cancel } = useUpload(props);
  if (running !== null) return <UploadProgress running={running} onCancel={cancel} />;
  return (
    <>
      <FileDrop onFile={(file) => void start(file)}>Choose a file, or drop it here</FileDrop>
      {error !== null && <Problem error={error} />}
    </>
  );
}

/** A link works for 15 minutes. */
const LINK_MS = 10 * 60_000;

/** A signed link to the file, from where this page came: its policy allows no other origin. */
export function useMediaLink(id: string, disposition: 'inline' | 'attachment', enabled = true) {
  return useQuery({
    queryKey: ['media-link', id, disposition],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { disposition } };
      const { data } = await dataOf(api.GET('/api/v1/media/{id}/url', { params, signal }));
      const { pathname, search } = new URL(data.url);
      return pathname + search;
    },
    enabled,
    staleTime: LINK_MS,
  });
}

/** The file as a browser shows it: a picture, sound or film; a PDF opens on a tab of its own. */
export function MediaPreview({ file }: { file: MediaFile }) {
  const { id, mime_type: mimeType, filename } = file;
  const kind = mimeType.split('/')[0] ?? '';
  const isPdf = mimeType === 'application/pdf';
  const isShown = isPdf || ['image', 'audio', 'video'].includes(kind);
  const { data: src, error, refetch } = useMediaLink(id, 'inline', isShown);
  if (!isShown) return <p className="hint">A browser shows no files of this kind: save it.</p>;
  if (error !== null) return <Problem error={error} onRetry={() => void refetch()} />;
  if (src === undefined) return null;
  if (kind === 'image') return <img src={src} alt={filename ?? 'The picture'} />;
  if (kind === 'audio') return <audio src={src} controls preload="metadata" />;
  if (kind === 'video') return <video src={src} controls preload="metadata" />;
  return (
    <a className="button" href={src} target="_blank" rel="noreferrer">
      Open the PDF
    </a>
  );
}

/** The picture itself, read when it is shown; of other files their kind. */
export function MediaThumb({ file }: { file: MediaFile }) {
  const isPicture = (file.type === 'image' || file.type === 'sticker') && file.status === 'stored';
  const { data: src } = useMediaLink(file.id, 'inline', isPicture);
  return (
    <span className="thumb">
      {src === undefined ? <Icon name="file" /> : <img src={src} alt="" loading="lazy" decoding="async" />}
    </span>
  );
}

export function MediaLine({ file }: { file: MediaFile }) {
  return (
    <>
      <MediaThumb file={file} />
      <span className="media-words">
        <bdi className="file-name">{file.filename ?? file.type}</bdi>
        <small>
          {file.mime_type}
          {file.size_bytes !== null && ` · ${sizeText(file.size_bytes)}`}
        </small>
      </span>
    </>
  );
}
