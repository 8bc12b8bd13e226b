import { isObject } from '../../../common/json.js';

/** Words of a component that the platform takes in either case and stores in capitals. */
const WORDS = new Set(['type', 'format']);
/** What stands inside a component and has such words of its own. */
const PARTS = new Set(['buttons', 'cards', 'components']);

/** The text in capitals; anything else as it is. */
export function inCapitals(value: unknown): unknown {
  return typeof value === 'string' ? value.toUpperCase() : value;
}

/** Components with their words in capitals, those of their buttons and cards as well; what is no list stays. */
export function componentsInCapitals(components: unknown): unknown {
  return Array.isArray(components) ? components.map(partInCapitals) : components;
}

function partInCapitals(part: unknown): unknown {
  if (!isObject(part)) return part;
  return Object.fromEntries(
    Object.entries(part).map(([key, value]) => {
      if (WORDS.has(key)) return [key, inCapitals(value)];
      return [key, PARTS.has(key) ? componentsInCapitals(value) : value];
    }),
  );
}
