import { Slots } from '../../../common/slots.js';

const TOTAL = 32;
const PER_WORKSPACE = 16;
const PER_NUMBER = 12;

/** Uploads at once: so many in this process, and not all of them for one workspace or one number. */
export class UploadLimiter {
  private readonly total = new Slots(TOTAL);
  private readonly workspaces = new Shares(PER_WORKSPACE);
  private readonly numbers = new Shares(PER_NUMBER);

  /** Runs `work` when there is a place for it. */
  within<T>(connection: { id: string; organizationId: string }, work: () => Promise<T>): Promise<T> {
    const { id, organizationId } = connection;
    return this.numbers.within(id, () => this.workspaces.within(organizationId, () => inSlot(this.total, work)));
  }
}

/** As many slots for each key. */
class Shares {
  private readonly byKey = new Map<string, { slots: Slots; users: number }>();

  constructor(private readonly size: number) {}

  async within<T>(key: string, work: () => Promise<T>): Promise<T> {
    const share = this.byKey.get(key) ?? { slots: new Slots(this.size), users: 0 };
    this.byKey.set(key, share);
    share.users++;
    try {
      return await inSlot(share.slots, work);
    } finally {
      share.users--;
      if (share.users === 0) this.byKey.delete(key);
    }
  }
}

async function inSlot<T>(slots: Slots, work: () => Promise<T>): Promise<T> {
  await slots.acquire(1);
  try {
    return await work();
  } finally {
    slots.release(1);
  }
}
