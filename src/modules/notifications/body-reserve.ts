import { commonErrors } from '../../common/common.errors.js';
import { hasBody, readBytes } from '../../platform/http/body-reader.js';
import type { HeraldRequest } from '../../platform/http/herald-request.js';

/** A notification has at most 3 MB (WhatsApp Cloud API, webhooks overview). */
const MAX_BODY_BYTES = 3 * 1_024 * 1_024;

export interface BodyReserveOptions {
  /** No further body is begun while so many bytes are held. */
  refuseAtBytes: number;
  /** A body that would go beyond this is cut off. */
  cutOffAtBytes: number;
}

const DEFAULTS: BodyReserveOptions = { refuseAtBytes: 64 * 1_024 * 1_024, cutOffAtBytes: 128 * 1_024 * 1_024 };

/**
 * Reads bodies whole, before anybody can know who sent them, and bounds what all of them hold together: strangers must
 * not fill the memory. Bytes count from when they have come, so those who announce much and send little block nobody.
 */
export class BodyReserve {
  private held = 0;

  constructor(private readonly options: BodyReserveOptions = DEFAULTS) {}

  /**
   * Hands the bytes to `use` and counts them as held until it is done.
   *
   * @throws PAYLOAD_TOO_LARGE (413), INVALID_REQUEST (400) for a body that does not come, or SERVICE_UNAVAILABLE (503)
   * while too much is held.
   */
  async read(req: HeraldRequest, use: (body: Buffer) => Promise<void>): Promise<void> {
    if (this.held >= this.options.refuseAtBytes) {
      throw commonErrors.SERVICE_UNAVAILABLE(undefined, { internal: 'too many bytes of notifications are under way' });
    }
    let bytes = 0;
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      this.held += chunk.length;
      if (this.held > this.options.cutOffAtBytes) req.destroy();
    };
    try {
      await Promise.resolve(); // lets the parser finish what it holds: a small body is complete then
      req.on('data', count);
      await use(hasBody(req) ? await readBytes(req, MAX_BODY_BYTES) : Buffer.alloc(0));
    } finally {
      req.off('data', count);
      this.held -= bytes;
    }
  }
}
