import { own, ownText } from '../../../infrastructure/whatsapp/json-access.js';

export { own, ownText } from '../../../infrastructure/whatsapp/json-access.js';

/** JSON as it came: an object whose values may be anything. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The value of an own key where it is a list, else an empty one: what the platform refuses is no list of one. */
export function ownArray(value: unknown, key: string): readonly unknown[] {
  const found = own(value, key);
  return Array.isArray(found) ? found : [];
}

/** A word of the platform's, such as a type: it takes them in either case and stores them in capitals. Else ''. */
export function ownWord(value: unknown, key: string): string {
  return (ownText(value, key) ?? '').toUpperCase();
}

/** The first component of that type (in capitals), whatever case it was written in. */
export function componentOf(components: readonly unknown[], type: string): JsonObject | undefined {
  return components.find((component): component is JsonObject => ownWord(component, 'type') === type);
}

/** The first of a list of texts, or a text that stands alone; numbers count as texts. */
export function firstText(value: unknown): string | null {
  const first: unknown = Array.isArray(value) ? value[0] : value;
  return asText(first);
}

/** Text as it is, a number as text, else null. */
export function asText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : null;
}
