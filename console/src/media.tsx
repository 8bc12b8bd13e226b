import { useQuery } from '@tanstack/react-query';
import { api, dataOf } from './api.ts';
import { Problem } from './ui.tsx';

/** Links are valid for 15 minutes; an older one is made again. */
const LINK_FRESH_MS = 600_000;
const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'] as const;

export function sizeOf(bytes: number): string {
  let [size, unit] = [bytes, 0];
  while (size >= 1_024 && unit < UNITS.length - 1) [size, unit] = [size / 1_024, unit + 1];
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${UNITS[unit]}`;
}

/** A signed link, at the origin of this page: the policy allows no other, and this process serves the files too. */
export function useMediaLink(id: string, disposition: 'inline' | 'attachment', enabled = true) {
  return useQuery({
    queryKey: ['media-link', id, disposition],
    queryFn: async ({ signal }) => {
      const params = { path: { id }, query: { disposition } };
      const { data } = await dataOf(api.GET('/api/v1/media/{id}/url', { params, signal }));
      const { pathname, search } = new URL(data.url);
      return pathname.slice(pathname.lastIndexOf('/media/')) + search;
    },
    staleTime: LINK_FRESH_MS,
    enabled,
  });
}

/** The file as a browser shows it: an image, audio or video; a PDF opens on a tab of its own. */
export function MediaPreview({ id, mimeType, name }: { id: string; mimeType: string; name: string }) {
  const kind = mimeType.split('/')[0] ?? '';
  const isPdf = mimeType === 'application/pdf';
  const isShown = isPdf || ['image', 'audio', 'video'].includes(kind);
  const link = useMediaLink(id, 'inline', isShown);
  if (!isShown) return <p className="hint">A browser shows no files of this kind.</p>;
  if (link.error !== null) return <Problem error={link.error} onRetry={() => void link.refetch()} />;
  if (link.data === undefined) return <div className="media-place" aria-hidden="true" />;
  if (kind === 'image') return <img className="media" src={link.data} alt={name} />;
  if (kind === 'audio') return <audio className="media" src={link.data} controls preload="metadata" />;
  if (kind === 'video') return <video className="media" src={link.data} controls preload="metadata" />;
  return (
    <a className="button" href={link.data} target="_blank" rel="noreferrer">
      Open the PDF
    </a>
  );
}
