import { Slots } from '../../../common/slots.js';

const TOTAL = 32;
const PER_NUMBER = 12;

/** Uploads at once: so many in this process, and not all of them for one number. */
export class UploadPlaces {
  private readonly total = new Slots(TOTAL);
  private readonly numbers = new Map<string, { slots: Slots; users: number }>();

  /** Runs `work` when there is a place for it. */
  async within<T>(connectionId: string, work: () => Promise<T>): Promise<T> {
    const number = this.numbers.get(connectionId) ?? { slots: new Slots(PER_NUMBER), users: 0 };
    this.numbers.set(connectionId, number);
    number.users++;
    try {
      await number.slots.acquire(1);
      try {
        await this.total.acquire(1);
        try {
          return await work();
        } finally {
          this.total.release(1);
        }
      } finally {
        number.slots.release(1);
      }
    } finally {
      number.users--;
      if (number.users === 0) this.numbers.delete(connectionId);
    }
  }
}
