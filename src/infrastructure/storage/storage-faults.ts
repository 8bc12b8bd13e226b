import { codeOf } from '../../common/describe-error.js';
import { FileGoneError, StorageUnavailableError } from './file-storage.js';

/** Faults of the disk or of the process's share in it, and no mistakes of ours. */
const UNAVAILABLE = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'EACCES', 'EPERM', 'EBUSY']);

/** The storage's own error for one of the operating system; what it does not know stays as it is. */
export function storageError(error: unknown, key?: string): unknown {
  const code = codeOf(error) ?? '';
  if (code === 'ENOENT' && key !== undefined) return new FileGoneError(key);
  return UNAVAILABLE.has(code) ? new StorageUnavailableError(`the media folder: ${code}`, { cause: error }) : error;
}
