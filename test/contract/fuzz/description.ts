import { readProjectFile } from '../../support/project-files.js';
import type { Schema } from '../../support/schema-arbitrary.js';

export type Place = 'path' | 'query' | 'header';

export interface Parameter {
  name: string;
  in: Place;
  required: boolean;
  schema: Schema;
  /** Of the schema or of the parameter. */
  example: unknown;
}

export interface RequestBody {
  /** `application/json` or `multipart/form-data`. */
  type: string;
  required: boolean;
  schema: Schema;
  examples: Record<string, unknown>;
}

export interface DocumentedAnswer {
  headers: string[];
  /** By content type; none: an empty body. */
  content: Record<string, { schema: Schema; examples: Record<string, unknown> }>;
}

export interface Operation {
  id: string;
  /** In capitals. */
  method: string;
  /** With names in braces, below /api/v1. */
  path: string;
  summary: string;
  scope: string;
  tags: string[];
  parameters: Parameter[];
  body: RequestBody | null;
  answers: Record<string, DocumentedAnswer>;
}

type Json = Record<string, unknown>;
interface RawOperation {
  operationId?: string;
  summary?: string;
  tags?: string[];
  parameters?: (Omit<Parameter, 'example' | 'required'> & { required?: boolean; example?: unknown })[];
  requestBody?: { required?: boolean; content: Record<string, RawContent> };
  responses: Record<string, RawAnswer>;
  'x-required-scope'?: string;
}
interface RawAnswer {
  $ref?: string;
  headers?: Json;
  content?: Record<string, RawContent>;
}
interface RawContent {
  schema: Schema;
  example?: unknown;
  examples?: Record<string, RawExample>;
}
/** Named examples of errors occur once, among the components. */
interface RawExample {
  value?: unknown;
  $ref?: string;
}
type Named = Record<string, RawExample>;
export interface OpenApi {
  paths: Record<string, Record<string, RawOperation>>;
  components: { schemas: Record<string, Schema>; examples?: Named; responses?: Record<string, RawAnswer> };
}

/**
 * The published API description, as a caller's tools read it. What tests serve has less: types and sentences come from
 * the source by the compiler's plugin, which does not run in them. `npm run check` compares the file with the source.
 */
export function publishedDescription(): Description {
  return new Description(JSON.parse(readProjectFile('openapi.json')) as OpenApi);
}

/** An API description, as a caller's tools read it. */
export class Description {
  readonly operations: readonly Operation[];

  constructor(readonly document: OpenApi) {
    this.operations = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, raw]) =>
        operationOf(method.toUpperCase(), path, withAnswers(raw, document), document.components.examples ?? {}),
      ),
    );
  }

  operation(id: string): Operation {
    const found = this.operations.find((operation) => operation.id === id);
    if (found === undefined) throw new Error(`the description has no operation ${id}`);
    return found;
  }

  readonly resolve = (ref: string): Schema => {
    const found = this.document.components.schemas[ref.split('/').at(-1) ?? ''];
    if (found === undefined) throw new Error(`the description has no ${ref}`);
    return found;
  };

  /** What may be asked at an address; `preview` is also a name that a template may have. */
  methodsAt(address: string): string[] {
    const patterns = this.operations.filter(({ path }) => patternOf(path).test(address));
    const methods = new Set(patterns.map(({ method }) => method));
    if (methods.has('GET')) methods.add('HEAD');
    return [...methods].sort();
  }
}

/** With the answers that stand once, among the components. */
function withAnswers(raw: RawOperation, { components: { responses = {} } }: OpenApi): RawOperation {
  const entries = Object.entries(raw.responses).map(([status, answer]) => {
    const shared = answer.$ref === undefined ? answer : responses[answer.$ref.split('/').at(-1) ?? ''];
    if (shared === undefined) throw new Error(`the description has no ${answer.$ref}`);
    return [status, shared] as const;
  });
  return { ...raw, responses: Object.fromEntries(entries) };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`);
}

function operationOf(method: string, path: string, raw: RawOperation, shared: Named): Operation {
  const [body] = Object.entries(raw.requestBody?.content ?? {});
  return {
    id: raw.operationId ?? '',
    method,
    path,
    summary: raw.summary ?? '',
    scope: raw['x-required-scope'] ?? '',
    tags: raw.tags ?? [],
    parameters: (raw.parameters ?? []).map((parameter) => ({
      ...parameter,
      required: parameter.required ?? false,
      example: parameter.example ?? parameter.schema.example,
    })),
    body:
      body === undefined
        ? null
        : {
            type: body[0],
            required: raw.requestBody?.required ?? false,
            schema: body[1].schema,
            examples: examplesOf(body[1], shared),
          },
    answers: Object.fromEntries(
      Object.entries(raw.responses).map(([status, answer]) => [
        status,
        {
          headers: Object.keys(answer.headers ?? {}),
          content: Object.fromEntries(
            Object.entries(answer.content ?? {}).map(([type, content]) => [
              type,
              { schema: content.schema, examples: examplesOf(content, shared) },
            ]),
          ),
        },
      ]),
    ),
  };
}

function examplesOf({ example, examples = {} }: RawContent, shared: Named): Record<string, unknown> {
  const named = Object.entries(examples).map(
    ([name, { value, $ref }]) => [name, value ?? shared[$ref?.split('/').at(-1) ?? '']?.value] as const,
  );
  return Object.fromEntries(example === undefined ? named : [['example', example] as const, ...named]);
}
