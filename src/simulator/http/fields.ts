import type { Request } from 'express';
import { GraphError, invalidParam } from '../graph-error.js';
import { isObject, queryParam } from './route.js';

/** One field that was asked for: `name`, `name.limit(5)`, or `name{its,own,fields}`. */
export interface Field {
  name: string;
  /** Such as `limit` with 5. */
  modifiers: Readonly<Record<string, string>>;
  /** Null where nothing of it was chosen, and all of it is shown. */
  sub: readonly Field[] | null;
}

/** How each field of a kind of object is shown. An undefined value is left out of the answer, as the platform does. */
export type Fields<T> = Readonly<Record<string, (object: T, field: Field) => unknown>>;

const NAME = /\s*([A-Za-z_]\w*)((?:\.\w+\([^()]*\))*)\s*/y;
const DEEPEST = 5;

/** Reads `a,b.limit(2),c{d,e{f}}`. @throws GraphError 2500 for anything else */
export function parseFields(text: string): Field[] {
  let at = 0;
  const wrong = () => new GraphError(2500, { message: `Syntax error "Expected name." at character ${at}: ${text}` });
  const list = (depth: number): Field[] => {
    const fields: Field[] = [];
    for (;;) {
      NAME.lastIndex = at;
      const [whole, name, modifiers] = NAME.exec(text) ?? [];
      if (whole === undefined || name === undefined || depth > DEEPEST) throw wrong();
      at += whole.length;
      let sub: Field[] | null = null;
      if (text[at] === '{') {
        at++;
        sub = list(depth + 1);
        if (text[at++] !== '}') throw wrong();
      }
      fields.push({ name, modifiers: modifiersOf(modifiers ?? ''), sub });
      if (text[at] !== ',') return fields;
      at++;
    }
  };
  const fields = list(0);
  if (at < text.length) throw wrong();
  return fields;
}

function modifiersOf(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(/\.(\w+)\(([^()]*)\)/g)].map((match) => [match[1], match[2]]));
}

export const plainField = (name: string): Field => ({ name, modifiers: {}, sub: null });

/** Reads `?fields=`; the usual ones where it is left out. @throws GraphError 100 for a field that no such object has */
export function fieldsOf(request: Request, known: object, usual: readonly string[], type: string): readonly Field[] {
  const asked = queryParam(request, 'fields');
  return knownFields(asked === null || asked.trim() === '' ? null : parseFields(asked), known, usual, type);
}

/** As {@link fieldsOf}, of fields within others. */
export function knownFields(
  asked: readonly Field[] | null,
  known: object,
  usual: readonly string[],
  type: string,
): readonly Field[] {
  if (asked === null) return usual.map(plainField);
  const unknown = asked.find(({ name }) => !Object.hasOwn(known, name));
  if (unknown !== undefined) {
    throw invalidParam(`Tried accessing nonexisting field (${unknown.name}) on node type (${type})`);
  }
  return asked.some(({ name }) => name === 'id') ? asked : [...asked, plainField('id')];
}

export function pick<T>(object: T, known: Fields<T>, fields: readonly Field[]): Record<string, unknown> {
  return Object.fromEntries(
    fields.map((field) => {
      const value = known[field.name]?.(object, field);
      return [field.name, field.sub === null ? value : narrowed(value, field.sub)];
    }),
  );
}

/** Only what was chosen of an object, or of each in a list. A page of `data` has been narrowed where it was made. */
function narrowed(value: unknown, sub: readonly Field[]): unknown {
  if (Array.isArray(value)) return value.map((item) => narrowed(item, sub));
  if (!isObject(value) || Array.isArray(value.data)) return value;
  return Object.fromEntries(
    sub.map(({ name, sub: inner }) => [name, inner === null ? value[name] : narrowed(value[name], inner)]),
  );
}
