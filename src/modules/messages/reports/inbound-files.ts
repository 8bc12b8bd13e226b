import { newId } from '../../../common/ids.js';
import { MEDIA_TYPES, type MediaType, type PendingMedia } from '../../media/media.types.js';
import type { InboundReport } from '../messages.types.js';

/** Types of a customer's message that bear a file, and what the file is to us. A voice message is `audio`. */
const FILE_TYPES: ReadonlyMap<string, MediaType> = new Map(MEDIA_TYPES.map((type) => [type, type]));

/**
 * The file of a customer's message, to be fetched in the background; null where it has none that can be fetched. Every
 * field is a stranger's.
 */
export function pendingFileOf(report: InboundReport): PendingMedia | null {
  const type = FILE_TYPES.get(report.type);
  const { content } = report;
  const platformMediaId = textOf(content.id);
  if (type === undefined || platformMediaId === null) return null;
  return {
    id: newId(),
    organizationId: report.organizationId,
    connectionId: report.connectionId,
    platformMediaId,
    type,
    mimeType: textOf(content.mime_type),
    sha256: textOf(content.sha256),
    filename: textOf(content.filename),
    voice: content.voice === true,
  };
}

function textOf(value: unknown): string | null {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : null;
  return typeof value === 'string' && value !== '' ? value : null;
}
