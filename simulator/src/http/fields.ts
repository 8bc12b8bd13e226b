import { GraphError, invalidParam } from '../graph-error.js';
import { Call, pageOf } from './call.js';
import { isObject } from './param.js';

/** One requested field: `name`, `name.limit(5)`, or `name{its,own,fields}`. */
export interface Field {
  name: string;
  /** Such as `limit` with 5. */
  modifiers: Readonly<Record<string, string>>;
  /** Null where no subfields were selected, so all are shown. */
  sub: readonly Field[] | null;
}

/** How each field of a kind of object is shown. Like on WhatsApp, an undefined value is left out. */
export type Fields<T> = Readonly<Record<string, (object: T, field: Field) => unknown>>;

const NAME = /\s*([A-Za-z_]\w*)((?:\.\w+\([^()]*\))*)\s*/y;
const DEEPEST = 5;

/** Reads `a,b.limit(2),c{d,e{f}}`. @throws GraphError 2500 for anything else */
function parseFields(text: string): Field[] {
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

/** Fields that WhatsApp has, but no object here. */
export function absent(...names: string[]): Fields<unknown> {
  return Object.fromEntries(names.map((name) => [name, () => undefined]));
}

/** Fields shown unchanged. */
export function own<T>(...names: (keyof T & string)[]): Fields<T> {
  return Object.fromEntries(names.map((name) => [name, (object: T) => object[name]]));
}

const plainField = (name: string): Field => ({ name, modifiers: {}, sub: null });

/** Limit of a list within an object, without `.limit(n)`. */
const MAX_IN_A_FIELD = 25;

/** The form of a kind of object in answers. */
export class Shape<T> {
  /**
   * @param type WhatsApp's name of the kind
   * @param usual the fields that are shown by default
   */
  constructor(
    private readonly type: string,
    private readonly known: Fields<T>,
    private readonly usual: readonly string[],
  ) {}

  /** Reads `?fields=`. @throws GraphError 100 for an unknown field */
  asked(call: Call): readonly Field[] {
    const asked = call.query('fields');
    return this.chosen(asked === null || asked.trim() === '' ? null : parseFields(asked));
  }

  show(object: T, fields: readonly Field[] | Call): Record<string, unknown> {
    const chosen = fields instanceof Call ? this.asked(fields) : fields;
    return Object.fromEntries(
      chosen.map((field) => {
        const value = this.known[field.name]?.(object, field);
        return [field.name, field.sub === null ? value : narrowed(value, field.sub)];
      }),
    );
  }

  only(object: T, names: readonly string[]): Record<string, unknown> {
    return this.show(object, names.map(plainField));
  }

  page(call: Call, objects: readonly T[], idOf: (object: T) => string): { data: object[]; paging?: object } {
    const fields = this.asked(call);
    return pageOf(call, objects, idOf, (object) => this.show(object, fields));
  }

  /** A list of such objects as a field of another object. */
  within({ sub, modifiers: { limit } }: Field, objects: readonly T[]): { data: object[] } {
    const fields = this.chosen(sub);
    const count = limit === undefined ? MAX_IN_A_FIELD : Number(limit);
    if (!Number.isInteger(count) || count < 1) throw invalidParam('Param limit must be a number between 1 and 1000.');
    return { data: objects.slice(0, count).map((object) => this.show(object, fields)) };
  }

  private chosen(asked: readonly Field[] | null): readonly Field[] {
    if (asked === null) return this.usual.map(plainField);
    const unknown = asked.find(({ name }) => !Object.hasOwn(this.known, name));
    if (unknown !== undefined) {
      throw invalidParam(`Tried accessing nonexisting field (${unknown.name}) on node type (${this.type})`);
    }
    return asked.some(({ name }) => name === 'id') ? asked : [...asked, plainField('id')];
  }
}

/** Only the selected fields of an object, or of each in a list. A page of `data` was reduced where it was made. */
function narrowed(value: unknown, sub: readonly Field[]): unknown {
  if (Array.isArray(value)) return value.map((item) => narrowed(item, sub));
  if (!isObject(value) || Array.isArray(value.data)) return value;
  return Object.fromEntries(
    sub.map(({ name, sub: inner }) => [name, inner === null ? value[name] : narrowed(value[name], inner)]),
  );
}
