import type { Statements } from '../../../infrastructure/database/database.js';
import { accountOf, spellingsOf } from '../../../infrastructure/whatsapp/account-number.js';
import { isOnlyFormer, isUserId } from './recipient.types.js';

/** The person behind a recipient. */
export interface Person {
  /** One name for all spellings of the number; the user id where no number is known. */
  name: string;
  /** Other names that may have referred to the same person before. */
  others: readonly string[];
}

interface NameRow {
  index: number;
  name: string;
  /** Whether the contact has this number now. */
  isNumber: boolean;
}

/** For each recipient (digits or a user id), the person known to the contacts of its connection. */
export async function findPersons(
  recipients: readonly { connectionId: string; recipient: string }[],
  statements: Statements,
): Promise<Person[]> {
  if (recipients.length === 0) return [];
  const asked = recipients.map(({ connectionId, recipient }, index) => ({
    index,
    connectionId,
    names: namesOf(recipient),
  }));
  const rows = await statements.query<NameRow & Record<string, unknown>>(NAMES, [JSON.stringify(asked)]);
  const found = recipients.map((): NameRow[] => []);
  for (const row of rows) found[row.index]?.push(row);
  return recipients.map(({ recipient }, index) => {
    const known = found[index] ?? [];
    const number = isUserId(recipient) ? known.find(({ isNumber }) => isNumber)?.name : recipient;
    const name = number === undefined ? recipient : accountOf(number);
    const names = new Set([recipient, ...known.map((row) => row.name)].map(oneNameOf));
    names.delete(name);
    return { name, others: [...names] };
  });
}

function namesOf(recipient: string): string[] {
  return isUserId(recipient) ? [recipient] : [recipient, ...spellingsOf(recipient)];
}

function oneNameOf(name: string): string {
  return isUserId(name) ? name : accountOf(name);
}

const contactsBy = (condition: string): string => `
  select t.index, coalesce(c.merged_into, c.id) as id
  from asked t join conversation c on c.connection_id = t."connectionId" and ${condition}`;

// Names in the form of opt-outs: see `OptOutsRepository`. WhatsApp's number comes first.
const NAMES = `
with asked as materialized (
  select * from json_to_recordset($1) as t (index integer, "connectionId" uuid, names text[])
), found as materialized (${['c.phone = any(t.names)', 'c.wa_id = any(t.names)', 'c.user_id = any(t.names)']
  .map(contactsBy)
  .join('\n  union')}
  union
  select t.index, coalesce(c.merged_into, c.id)
  from asked t join conversation_alias a on a.connection_id = t."connectionId" and a.name = any(t.names) and ${isOnlyFormer('a')}
  join conversation c on c.id = a.conversation_id
), contact as materialized (
  select f.index, c.id, c.phone, c.wa_id, c.user_id from found f join conversation c on c.id = f.id
  union
  select f.index, c.id, c.phone, c.wa_id, c.user_id from found f join conversation c on c.merged_into = f.id
)
select k.index, n.name, n.is_number as "isNumber", n.preference
from contact k cross join lateral (
  values (k.wa_id, true, 1), (k.phone, true, 2), (k.user_id, false, 3)) as n (name, is_number, preference)
where n.name is not null
union all
select k.index, a.name, false, 4 from contact k join conversation_alias a on a.conversation_id = k.id and ${isOnlyFormer('a')}
order by preference`;
