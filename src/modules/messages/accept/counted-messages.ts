import type { Statements } from '../../../infrastructure/database/database.js';
import { type CountedMessage, MARKETING } from '../../billing/limits.service.js';
import { findPersons } from '../../conversations/contacts/persons.service.js';

export type LimitedMessage = Omit<CountedMessage, 'person'> & { connectionId: string };

/**
 * Messages as limits count them: marketing templates count per person, whether the message names the number or the user
 * id.
 */
export async function countedMessages<M extends LimitedMessage>(
  messages: readonly M[],
  statements: Statements,
): Promise<(M & CountedMessage)[]> {
  const marketing = messages.filter(({ templateCategory }) => templateCategory === MARKETING);
  const persons = await findPersons(marketing, statements);
  const byMessage = new Map(marketing.map((message, index) => [message, persons[index]]));
  return messages.map((message) => ({ ...message, person: byMessage.get(message) }));
}

export async function countedMessage(message: LimitedMessage, statements: Statements): Promise<CountedMessage> {
  const [counted] = await countedMessages([message], statements);
  return counted ?? message;
}
