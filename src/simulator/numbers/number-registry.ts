import type { SimulatorNumber } from '../simulator.types.js';
import type { Collection } from '../state/state-store.js';

/** Numbers by id, with the accounts they belong to. */
export class NumberRegistry {
  private readonly accounts = new Map<string, SimulatorNumber[]>();

  /**
   * @param saved numbers of this run and of former ones
   * @param unsubscribed accounts whose app does not want notifications; all others get them
   */
  constructor(
    private readonly saved: Collection<SimulatorNumber>,
    private readonly unsubscribed: Collection<true>,
  ) {
    this.index();
  }

  /** Adds a number, or replaces the one with its id. */
  register(number: SimulatorNumber): void {
    this.saved.set(number.phoneNumberId, number);
    this.index();
  }

  get(phoneNumberId: string): SimulatorNumber | undefined {
    return this.saved.get(phoneNumberId);
  }

  all(): SimulatorNumber[] {
    return this.saved.values();
  }

  hasAccount(wabaId: string): boolean {
    return this.accounts.has(wabaId);
  }

  ofAccount(wabaId: string): readonly SimulatorNumber[] {
    return this.accounts.get(wabaId) ?? [];
  }

  subscribe(wabaId: string, wanted: boolean): void {
    if (wanted) this.unsubscribed.delete(wabaId);
    else this.unsubscribed.set(wabaId, true);
  }

  isSubscribed(wabaId: string): boolean {
    return !this.unsubscribed.has(wabaId);
  }

  private index(): void {
    this.accounts.clear();
    for (const number of this.saved.values()) {
      const numbers = this.accounts.get(number.wabaId);
      if (numbers === undefined) this.accounts.set(number.wabaId, [number]);
      else numbers.push(number);
    }
  }
}
