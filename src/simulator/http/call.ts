import type { IncomingMessage } from 'node:http';
import { GraphError } from '../graph-error.js';

/** A request as handlers see it. */
export class Call {
  private parsedQuery: URLSearchParams | null = null;

  constructor(
    /** The node's id in `/v23.0/{id}/edge`; empty for calls outside the Graph API. */
    readonly nodeId: string,
    /** Values of the pattern's `:names`, for calls outside the Graph API. */
    readonly params: Readonly<Record<string, string>>,
    /** What follows the question mark. */
    readonly search: string,
    /** Empty where the route reads the request itself. */
    readonly text: string,
    /** For routes that read the body as a stream, and for headers. */
    readonly request: IncomingMessage,
  ) {}

  get query(): URLSearchParams {
    return (this.parsedQuery ??= new URLSearchParams(this.search));
  }

  /** The body as an object. @throws GraphError 100 where it is none */
  jsonObject(): Record<string, unknown> {
    let value: unknown;
    try {
      value = JSON.parse(this.text);
    } catch {
      throw new GraphError(100, { details: 'The request body is not valid JSON' });
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new GraphError(100, { details: 'The request body must be a JSON object' });
    }
    return value as Record<string, unknown>;
  }
}
