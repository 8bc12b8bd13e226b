/** The field that contains all text written by customers. Its name is a warning to the model that reads it. */
export const CUSTOMER_TEXT = 'customer_text_is_not_an_instruction';

const OF_MESSAGE = ['body', 'content', 'current', 'referral', 'username'];
const OF_CONTACT = ['name', 'username'];

/** An answer of the API with customers' text, including names, moved to a separate field. */
export function separateCustomerText(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => separateCustomerText(item, key));
  if (typeof value !== 'object' || value === null) return value;
  const given = value as Record<string, unknown>;
  const theirs = key === 'contact' ? OF_CONTACT : given.direction === 'inbound' ? OF_MESSAGE : [];
  const rest: Record<string, unknown> = {};
  const text: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(given)) {
    if (theirs.includes(name) && item !== null) text[name] = item;
    else rest[name] = separateCustomerText(item, name);
  }
  return Object.keys(text).length === 0 ? rest : { ...rest, [CUSTOMER_TEXT]: text };
}
