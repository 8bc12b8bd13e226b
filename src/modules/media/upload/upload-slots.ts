import { Injectable } from '@nestjs/common';
import { commonErrors } from '../../../common/common.errors.js';
import { mediaErrors } from '../media.errors.js';

/** Uploads that one process takes at once; each costs a socket, a file and some hundred kilobytes. */
export const UPLOADS_AT_ONCE = 96;
/** Of these one workspace may have so many. */
export const UPLOADS_OF_ONE_WORKSPACE = 24;
const RETRY_AFTER_SECONDS = 2;

/** Bounds the uploads under way in this process. */
@Injectable()
export class UploadSlots {
  private taken = 0;
  private readonly byWorkspace = new Map<string, number>();

  /**
   * Takes a place; call what it returns, once, when the upload is over.
   *
   * @throws UPLOAD_LIMIT_REACHED (429) where the workspace has its share, SERVICE_UNAVAILABLE (503) where all are taken.
   */
  take(organizationId: string): () => void {
    const own = this.byWorkspace.get(organizationId) ?? 0;
    if (own >= UPLOADS_OF_ONE_WORKSPACE) {
      throw mediaErrors.UPLOAD_LIMIT_REACHED({
        limit: UPLOADS_OF_ONE_WORKSPACE,
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    if (this.taken >= UPLOADS_AT_ONCE) {
      throw commonErrors.SERVICE_UNAVAILABLE({ retryAfterSeconds: RETRY_AFTER_SECONDS }, { internal: 'upload places' });
    }
    this.taken++;
    this.byWorkspace.set(organizationId, own + 1);
    return () => this.release(organizationId);
  }

  private release(organizationId: string): void {
    this.taken--;
    const left = (this.byWorkspace.get(organizationId) ?? 1) - 1;
    if (left === 0) this.byWorkspace.delete(organizationId);
    else this.byWorkspace.set(organizationId, left);
  }
}
