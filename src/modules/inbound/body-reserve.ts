import { commonErrors } from '../../common/common.errors.js';
import { hasBody, readBytes } from '../../infrastructure/http/body.guard.js';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import type { Sender } from './notification-senders.js';

const KIB = 1_024;
const MIB = 1_024 * KIB;

/** A notification has at most 3 MB (WhatsApp Cloud API, webhooks overview). */
const MAX_BODY_BYTES = 3 * MIB;
/** Statuses and texts have some kilobytes, so nearly every notification is small. */
const SMALL_BODY_BYTES = 64 * KIB;
/** A body from an unproven address that brings less than this twice in a row is cut off. */
const MIN_BYTES_A_LOOK = 32 * KIB;
const SLOW_LOOKS = 2;

/**
 * Limits of the bytes that bodies hold together: above `refuseAtBytes` no body is started, and a body that exceeds
 * `cutOffAtBytes` is cut off.
 */
type Bound = Record<'refuseAtBytes' | 'cutOffAtBytes', number>;

const DEFAULTS = {
  /** Addresses that recently sent a valid signature. */
  proven: { refuseAtBytes: 64 * MIB, cutOffAtBytes: 96 * MIB },
  /** All other addresses together: bodies announced as small, and the rest. */
  small: { refuseAtBytes: 8 * MIB, cutOffAtBytes: 12 * MIB },
  large: { refuseAtBytes: 16 * MIB, cutOffAtBytes: 20 * MIB },
  /** A single other address. */
  perAddress: { refuseAtBytes: 4 * MIB, cutOffAtBytes: 8 * MIB },
  /** Interval between two checks of a body's speed. */
  lookMs: 1_500,
};

/** A limit, and the bytes held under it. */
class Share {
  held = 0;
  /** Bodies that count under it. */
  bodies = 0;
  constructor(readonly bound: Bound) {}
}

/** Whether a body is announced as small. */
export function isSmall(req: HeraldRequest): boolean {
  const length = req.headers['content-length'];
  return length !== undefined && Number(length) <= SMALL_BODY_BYTES;
}

/**
 * Reads whole bodies before their sender is known, and limits the memory of all together: unknown clients must neither
 * fill the memory nor use up WhatsApp's share. So they have a separate share, in which each address has a small part
 * and small bodies have a reserve, and they must send without pauses. Addresses with a recent valid signature have none
 * of these limits. Bytes count once they have arrived, so a client that announces much and sends little blocks no
 * other.
 */
export class BodyReserve {
  private readonly proven: Share;
  private readonly small: Share;
  private readonly large: Share;
  private readonly byOrigin = new Map<string, Share>();

  constructor(private readonly options = DEFAULTS) {
    this.proven = new Share(options.proven);
    this.small = new Share(options.small);
    this.large = new Share(options.large);
  }

  /**
   * Hands the bytes to `use` and counts them as held until it is done.
   *
   * @throws PAYLOAD_TOO_LARGE (413), INVALID_REQUEST (400) for a body that does not come, or SERVICE_UNAVAILABLE (503)
   * while too much is held.
   */
  async read(req: HeraldRequest, sender: Sender, use: (body: Buffer) => Promise<void>): Promise<void> {
    const shares = this.sharesOf(req, sender);
    let bytes = 0;
    const count = (chunk: Buffer): void => {
      bytes += chunk.length;
      for (const share of shares) share.held += chunk.length;
      if (shares.some(({ held, bound }) => held > bound.cutOffAtBytes)) req.destroy();
    };
    for (const share of shares) share.bodies += 1;
    try {
      if (shares.some(({ held, bound }) => held >= bound.refuseAtBytes)) {
        throw commonErrors.SERVICE_UNAVAILABLE(undefined, {
          internal: 'too many bytes of notifications are under way',
        });
      }
      req.on('data', count);
      await use(await this.bodyOf(req, sender, () => bytes));
    } finally {
      req.off('data', count);
      for (const share of shares) {
        share.held -= bytes;
        share.bodies -= 1;
      }
      if (this.byOrigin.get(sender.origin)?.bodies === 0) this.byOrigin.delete(sender.origin);
    }
  }

  private sharesOf(req: HeraldRequest, { origin, proven }: Sender): Share[] {
    if (proven) return [this.proven];
    let own = this.byOrigin.get(origin);
    if (own === undefined) {
      own = new Share(this.options.perAddress);
      this.byOrigin.set(origin, own);
    }
    return [own, isSmall(req) ? this.small : this.large];
  }

  private async bodyOf(req: HeraldRequest, { proven }: Sender, soFar: () => number): Promise<Buffer> {
    if (!hasBody(req)) return Buffer.alloc(0);
    const body = readBytes(req, MAX_BODY_BYTES);
    if (proven) return body;
    let [before, slowLooks] = [0, 0];
    const timer = setInterval(() => {
      const now = soFar();
      slowLooks = now - before < MIN_BYTES_A_LOOK ? slowLooks + 1 : 0;
      before = now;
      if (slowLooks >= SLOW_LOOKS) req.destroy();
    }, this.options.lookMs);
    return body.finally(() => clearInterval(timer));
  }
}
