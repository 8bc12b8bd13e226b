import { type HeraldClient, HeraldError } from '@herald/client';
import type { Chatwoot, Contact, NewContact } from './chatwoot.js';
import { ChatwootError, isTemporary } from './failure.js';
import { log } from './log.js';
import { furtherPlaceOf, heraldConversationOf, identifierOf, isIdentifier, isPlaceOf } from './names.js';
import type { Installed } from './settings.js';

const MOST_REMEMBERED = 5_000;

export interface Person {
  phone: string | null;
  user_id: string | null;
  name: string | null;
}

/** A contact of Chatwoot, and its name in the inbox: what conversations belong to. */
interface Place {
  contactId: number;
  sourceId: string;
}

/** Which contact of Chatwoot is which person in WhatsApp. */
export class Contacts {
  private readonly places = new Map<string, Place>();

  constructor(
    private readonly herald: HeraldClient,
    private readonly chatwoot: Chatwoot,
    private readonly installed: Installed,
  ) {}

  /** Contacts may be deleted or merged in Chatwoot: what is remembered is asked for again. */
  forget(): void {
    this.places.clear();
  }

  /** Made where it is not there. @param herald the conversation */
  async placeOf(herald: string, person: Person): Promise<Place> {
    const known = this.places.get(herald);
    if (known !== undefined) return known;
    const place = await this.findOrMake(herald, person);
    this.places.set(herald, place);
    for (const oldest of this.places.keys()) {
      if (this.places.size <= MOST_REMEMBERED) break;
      this.places.delete(oldest);
    }
    return place;
  }

  private async findOrMake(herald: string, person: Person): Promise<Place> {
    const phone = person.phone === null ? null : `+${person.phone}`;
    const identifier = person.user_id === null ? null : identifierOf(person.user_id);
    const { inboxId } = this.installed;
    const found = await this.find(herald, phone, identifier);
    if (found === null) return this.make(herald, phone, identifier, person.name);
    await this.complete(found, phone, identifier);
    const here = placesIn(found, inboxId);
    const own = here.find((sourceId) => isPlaceOf(sourceId, herald)) ?? (await this.begunByAgent(here));
    if (own !== null) return { contactId: found.id, sourceId: own };
    await this.chatwoot.addToInbox(found.id, inboxId, herald);
    return { contactId: found.id, sourceId: herald };
  }

  private async find(herald: string, phone: string | null, identifier: string | null): Promise<Contact | null> {
    const byId = identifier === null ? null : await this.chatwoot.findContact('identifier', identifier);
    if (byId !== null || phone === null) return byId;
    const byPhone = await this.chatwoot.findContact('phone_number', phone);
    if (byPhone === null || identifier === null || !isIdentifier(byPhone.identifier)) return byPhone;
    // A number goes from one person to another. The same conversation of Herald is the same person, under a new user id.
    return placesIn(byPhone, this.installed.inboxId).some((sourceId) => isPlaceOf(sourceId, herald)) ? byPhone : null;
  }

  private async make(
    herald: string,
    phone: string | null,
    identifier: string | null,
    name: string | null,
  ): Promise<Place> {
    const { inboxId } = this.installed;
    const contact: NewContact = {
      inbox_id: inboxId,
      source_id: herald,
      name: name ?? phone ?? 'WhatsApp',
      ...(identifier !== null && { identifier }),
    };
    try {
      const made = await this.chatwoot.createContact({ ...contact, ...(phone !== null && { phone_number: phone }) });
      if (made.sourceId !== herald) await this.chatwoot.addToInbox(made.id, inboxId, herald);
      return { contactId: made.id, sourceId: herald };
    } catch (error) {
      if (!(error instanceof ChatwootError && error.status === 422)) throw error;
      // The number or the place is another contact's. The message must be seen, and in a conversation of its own.
      const place = furtherPlaceOf(herald);
      const made = await this.chatwoot.createContact({ ...contact, source_id: place });
      log.warn('a contact has another one beside it: merge them in Chatwoot', { contact: made.id });
      return { contactId: made.id, sourceId: place };
    }
  }

  /** An agent may have begun the conversation in Chatwoot, which then made a name up: Herald does not know it. */
  private async begunByAgent(sourceIds: string[]): Promise<string | null> {
    for (const sourceId of sourceIds) {
      try {
        await this.herald.conversations.get(heraldConversationOf(sourceId));
      } catch (error) {
        if (error instanceof HeraldError && [400, 404].includes(error.status)) return sourceId;
        throw error;
      }
    }
    return null;
  }

  /** What Herald has learned of a person since the contact was made. */
  private async complete(contact: Contact, phone: string | null, identifier: string | null): Promise<void> {
    const isNew = identifier !== null && contact.identifier !== identifier;
    const change = {
      ...(phone !== null && contact.phone_number !== phone && { phone_number: phone }),
      ...(isNew && ((contact.identifier ?? '') === '' || isIdentifier(contact.identifier)) && { identifier }),
    };
    if (Object.keys(change).length === 0) return;
    try {
      await this.chatwoot.updateContact(contact.id, change);
    } catch (error) {
      if (isTemporary(error)) throw error;
      log.warn('a contact has another one beside it: merge them in Chatwoot', { contact: contact.id });
    }
  }
}

/** The names that a contact has in the inbox. */
function placesIn({ contact_inboxes: all = [] }: Contact, inboxId: number): string[] {
  return all.filter(({ inbox }) => inbox.id === inboxId).map(({ source_id: id }) => id);
}
