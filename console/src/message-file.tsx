import { type ReactNode, type RefObject, useEffect, useRef, useState } from 'react';
import { api, ApiError, dataOf, type MessageRow } from './api.ts';
import { Button } from './controls.tsx';
import { Dialog } from './dialog.tsx';
import { type MediaFile, MediaPreview, sizeText, useMediaLink } from './media-file.tsx';
import { useData } from './queries.ts';
import { useCan } from './session.ts';
import { Problem } from './ui.tsx';

const LOOK_MS = 2_000;
/** Files are read when they are so near to what is in view. */
const AHEAD = '400px';

/** Whether the element has been in view, or near it. */
function useSeen(): [RefObject<HTMLSpanElement | null>, boolean] {
  const place = useRef<HTMLSpanElement>(null);
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (place.current === null || isSeen) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: AHEAD },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, [isSeen]);
  return [place, isSeen];
}

const nameOf = ({ filename, type, voice }: MediaFile): string => filename ?? (voice ? 'voice message' : type);

/** The file of a message, for its bubble; null: it has none, or was withdrawn. */
export function mediaOf({ media_object_id: id, revoked_at: revokedAt }: MessageRow): ReactNode {
  return id === null || typeof revokedAt === 'string' ? null : <MessageFile id={id} />;
}

/** The file itself: shown, larger on click, and saved. */
function MessageFile({ id }: { id: string }) {
  const can = useCan();
  const [place, isSeen] = useSeen();
  const isAllowed = can('media:read');
  const file = useData(
    ['media-one', id],
    (signal) => api.GET('/api/v1/media/{id}', { params: { path: { id } }, signal }),
    {
      enabled: isSeen && isAllowed,
      // Herald is fetching it; a key may not read the event that says that it came.
      refetchInterval: ({ state }) => (state.data?.status === 'pending' ? LOOK_MS : false),
      retry: false,
    },
  );
  const { data, error } = file;
  const isGone = error instanceof ApiError && error.status === 404;
  return (
    <span className="message-file" ref={place}>
      {!isAllowed && (
        <small>
          This key needs the scope <code>media:read</code> to show the file.
        </small>
      )}
      {isAllowed && data === undefined && error === null && <span className="media-wait" aria-hidden="true" />}
      {isGone && <small>The file is not kept any more.</small>}
      {error !== null && !isGone && <Problem error={error} onRetry={() => void file.refetch()} />}
      {data?.status === 'pending' && <small>Herald is fetching the file from WhatsApp …</small>}
      {data?.status === 'failed' && <small>Herald could not fetch the file from WhatsApp.</small>}
      {data?.status === 'stored' && <Stored file={data} />}
    </span>
  );
}

function Stored({ file }: { file: MediaFile }) {
  const { id, type } = file;
  const [isLarge, setLarge] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const isPicture = type === 'image' || type === 'sticker';
  const { data: src, error } = useMediaLink(id, 'inline', type !== 'document');
  const name = nameOf(file);
  const isPdf = file.mime_type === 'application/pdf';
  const larger = isPicture || type === 'video' || isPdf;
  const save = async (): Promise<void> => {
    setFailure(null);
    try {
      await saveFile(file);
    } catch (refusal) {
      setFailure(refusal);
    }
  };
  return (
    <>
      {isPicture && (
        <button type="button" className="media-open" aria-label={`Larger: ${name}`} onClick={() => setLarge(true)}>
          {src === undefined ? (
            <span className="media-wait" aria-hidden="true" />
          ) : (
            <img src={src} alt={name} decoding="async" />
          )}
        </button>
      )}
      {type === 'video' && src !== undefined && <video src={src} controls preload="metadata" aria-label={name} />}
      {type === 'audio' && src !== undefined && <audio src={src} controls preload="metadata" aria-label={name} />}
      <span className="media-tools">
        {!isPicture && (
          <span className="media-words">
            <bdi className="file-name">{name}</bdi>
            {file.size_bytes !== null && <small>{sizeText(file.size_bytes)}</small>}
          </span>
        )}
        <span className="grow" />
        {larger && <Button quiet label={isPdf ? 'Open' : 'Larger'} onClick={() => setLarge(true)} />}
        <Button quiet icon="down" label="Save" aria-label={`Save ${name}`} onClick={() => void save()} />
      </span>
      {(error ?? failure) !== null && <Problem error={error ?? failure} />}
      {isLarge && (
        <Dialog title={name} className="media-dialog" onClose={() => setLarge(false)}>
          <div className="media-box">
            <MediaPreview file={file} />
          </div>
          <div className="row">
            <Button icon="down" label="Save" onClick={() => void save()} />
            <Button label="Close" onClick={() => setLarge(false)} />
          </div>
        </Dialog>
      )}
    </>
  );
}

/** By a link that is new: one that was made as the page opened may have ended. */
async function saveFile({ id, filename }: MediaFile): Promise<void> {
  const params = { path: { id }, query: { disposition: 'attachment' as const } };
  const { data } = await dataOf(api.GET('/api/v1/media/{id}/url', { params }));
  const { pathname, search } = new URL(data.url);
  const link = document.createElement('a');
  link.href = pathname + search;
  link.download = filename ?? '';
  link.click();
}
