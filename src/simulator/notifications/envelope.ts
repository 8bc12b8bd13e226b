import type { NumberRegistry } from '../numbers/number-registry.js';
import { digitsOf } from '../recipient.js';
import type { Users } from '../users.js';
import type { InboundNotification, StatusNotification } from './outgoing.js';
import { statusContact, statusJson } from './status-json.js';

interface Change {
  contacts: Map<string, object>;
  payloads: object[];
  kind: 'status' | 'inbound';
}

/**
 * Packs many statuses and messages into one body: an entry for each business account, a change for each number and
 * kind. Whoever reads only the first of each loses the rest.
 */
export class EnvelopeBuilder {
  constructor(
    private readonly numbers: NumberRegistry,
    private readonly users: Users,
    private readonly gapMs: number,
  ) {}

  build(items: readonly (StatusNotification | InboundNotification)[]): object {
    const accounts = new Map<string, Map<string, Change>>();
    for (const item of items) {
      const phoneNumberId = item.kind === 'status' ? item.message.phoneNumberId : item.phoneNumberId;
      const wabaId = this.numbers.get(phoneNumberId)?.wabaId ?? '0';
      let changes = accounts.get(wabaId);
      if (changes === undefined) accounts.set(wabaId, (changes = new Map()));
      const key = `${item.kind} ${phoneNumberId}`;
      let change = changes.get(key);
      if (change === undefined) {
        changes.set(key, (change = { contacts: new Map(), payloads: [], kind: item.kind }));
      }
      this.add(change, item);
    }
    return {
      object: 'whatsapp_business_account',
      entry: [...accounts].map(([id, changes]) => ({
        id,
        changes: [...changes].map(([key, change]) => ({
          value: this.value(key.slice(key.indexOf(' ') + 1), change),
          field: 'messages',
        })),
      })),
    };
  }

  private add(change: Change, item: StatusNotification | InboundNotification): void {
    if (item.kind === 'inbound') {
      change.payloads.push(item.message);
      if (item.contact !== null) change.contacts.set(item.party, item.contact);
      return;
    }
    const { message, step } = item;
    change.payloads.push(statusJson(message, step, this.gapMs, this.users));
    const contact = statusContact(message, step, this.users);
    if (contact !== null) change.contacts.set(message.waId ?? message.to, contact);
  }

  private value(phoneNumberId: string, change: Change): object {
    return {
      messaging_product: 'whatsapp',
      metadata: {
        display_phone_number: digitsOf(this.numbers.get(phoneNumberId)?.displayPhoneNumber ?? ''),
        phone_number_id: phoneNumberId,
      },
      ...(change.contacts.size === 0 ? {} : { contacts: [...change.contacts.values()] }),
      [change.kind === 'status' ? 'statuses' : 'messages']: change.payloads,
    };
  }
}
