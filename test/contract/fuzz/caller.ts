import { Agent, request, type IncomingHttpHeaders } from 'node:http';

/** Exactly what goes over the wire. */
export interface Call {
  method: string;
  /** Path and query as they are sent. */
  target: string;
  headers: Record<string, string | string[]>;
  body?: Buffer;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** Undefined where the body is no JSON. */
  json: unknown;
}

/** Program, simulator and this client share one thread, and creations of templates follow each other. */
export const TIMEOUT_MS = 60_000;

/** Sends anything that Node can put on a wire, a bounded number at a time. */
export class Caller {
  sent = 0;
  private readonly agent: Agent;
  private readonly host: string;
  private readonly port: string;

  constructor(baseUrl: string, inFlight = 32) {
    this.agent = new Agent({ keepAlive: true, maxSockets: inFlight });
    ({ hostname: this.host, port: this.port } = new URL(baseUrl));
  }

  close(): void {
    this.agent.destroy();
  }

  async send(call: Call): Promise<Answer> {
    this.sent += 1;
    try {
      return await this.once(call);
    } catch (error) {
      // A kept connection may be closed by the server in the very moment in which it is used again.
      if ((error as NodeJS.ErrnoException).code !== 'ECONNRESET') throw error;
      return this.once(call);
    }
  }

  private once(call: Call): Promise<Answer> {
    const { method, target, body } = call;
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(body.length) };
      const sent = request({
        host: this.host,
        port: this.port,
        method,
        path: target,
        headers: { ...length, ...call.headers },
        agent: this.agent,
        timeout: TIMEOUT_MS,
      });
      sent.on('response', (response) => {
        const parts: Buffer[] = [];
        response.on('data', (part: Buffer) => parts.push(part));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parsed(text) });
        });
      });
      sent.on('error', reject);
      sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS} ms`)));
      sent.end(body);
    });
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The call as a command that can be repeated. */
export function asCurl({ method, target, headers, body }: Call): string {
  const given = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((one) => `-H ${quoted(`${name}: ${one}`)}`),
  );
  const data = body === undefined ? [] : [`--data-binary ${quoted(shortened(body.toString()))}`];
  return ['curl -g --path-as-is -X', method, ...given, ...data, quoted(target)].join(' ');
}

export function shortened(text: string, length = 1_500): string {
  return text.length <= length ? text : `${text.slice(0, length)}... (${text.length} characters)`;
}

function quoted(text: string): string {
  return `$'${JSON.stringify(text)
    .slice(1, -1)
    .replaceAll(String.raw`\"`, '"')
    .replaceAll("'", String.raw`\'`)}'`;
}
