import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import { isSameAddress } from '../../../common/public-address.js';
import { codeOf } from '../../../common/describe-error.js';

/**
 * Why a delivery got no answer, as a short, stable word. The workspace sees it, so it contains no address and no text
 * from the server.
 */
export class DeliveryError extends Error {
  /** @param onKept whether it ended a connection that had served an earlier request. */
  constructor(
    readonly word: string,
    readonly onKept = false,
  ) {
    super(word);
    this.name = 'DeliveryError';
  }
}

const CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  ETIMEDOUT: 'connect_timeout',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
};

const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'certificate has expired',
  CERT_NOT_YET_VALID: 'certificate is not yet valid',
  CERT_REVOKED: 'certificate is revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another name',
  HOSTNAME_MISMATCH: 'certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate authority is unknown',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate authority is unknown',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate chain is incomplete or its authority unknown',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate chain is incomplete or its authority unknown',
  CERT_UNTRUSTED: 'certificate is not trusted',
  CERT_REJECTED: 'certificate is not trusted',
  INVALID_PURPOSE: 'certificate is not for servers',
  INVALID_CA: 'certificate authority is invalid',
  PATH_LENGTH_EXCEEDED: 'certificate chain is too long',
  CERT_CHAIN_TOO_LONG: 'certificate chain is too long',
  CERT_SIGNATURE_FAILURE: 'certificate signature is wrong',
};

const NO_TLS: ReadonlySet<string> = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

const ANSWER: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_OVERFLOW: 'answer_headers_too_large',
  UND_ERR_INVALID_ARG: 'request_not_valid',
};

function tlsWord(error: unknown): string {
  const code = codeOf(error) ?? '';
  const certificate = CERTIFICATE[code];
  if (certificate !== undefined) return `tls: ${certificate}`;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'tls: timeout';
  if (NO_TLS.has(code)) return 'tls: the server does not speak TLS';
  if (/_PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL/.test(code)) return 'tls: version 1.2 or newer is required';
  return code in CONNECTION ? 'tls: connection closed during the handshake' : 'tls: handshake failed';
}

/** The word for an error after the request was sent. */
export function answerWord(error: unknown): string {
  const code = codeOf(error) ?? '';
  const word = ANSWER[code] ?? CONNECTION[code];
  if (word !== undefined) return word;
  // The parser's errors may have no code, but always have this name.
  const name = error instanceof Error ? error.name : '';
  if (name === 'HTTPParserError' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'answer_is_not_http';
  return code === 'UND_ERR_SOCKET' ? 'connection_closed' : 'connection_failed';
}

export interface ConnectorOptions {
  /** For TCP to one address, in milliseconds. */
  readonly connectMs: number;
  readonly tlsMs: number;
  /** Certificate authorities to trust instead of Node's (PEM). */
  readonly ca: string | undefined;
  /** Whether an address may be connected to; asked again for the address that the socket reached. */
  readonly isAllowed: (address: string) => boolean;
}

export interface Destination {
  readonly host: string;
  readonly secure: boolean;
  readonly port: number;
  /** Checked addresses of the host. */
  readonly addresses: readonly string[];
}

export interface Limits {
  /** By `performance.now()`. */
  readonly notAfter: number;
  readonly signal: AbortSignal | undefined;
}

export interface OpenSocket {
  readonly socket: Socket;
  /** The connected address. */
  readonly address: string;
}

/** Limit of addresses tried if the first ones do not accept the connection. */
const MAX_TRIED = 3;

/** A resumed session skips the certificate, so sessions are limited in time. */
const SESSIONS_KEPT_MS = 60_000;

/**
 * Opens connections to addresses, never to names, so that nothing is looked up between the check and the connection. It
 * writes no byte before it has checked the address that the socket reached, and no byte of a request before it has
 * checked the certificate. undici's connector makes the handshakes, and resumes sessions.
 */
export class Connector {
  private readonly tlsOptions: buildConnector.BuildOptions;
  private handshake: buildConnector.connector;
  private sessionsSince = performance.now();

  constructor(private readonly options: ConnectorOptions) {
    this.tlsOptions = {
      // Shared, because tls.connect would create a context, with OpenSSL's memory, for every connection.
      secureContext: createSecureContext({ ca: options.ca, minVersion: 'TLSv1.2' }),
      // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment has no effect.
      rejectUnauthorized: true,
      timeout: options.tlsMs,
    };
    this.handshake = buildConnector(this.tlsOptions);
  }

  /** A connected socket, verified for https. @throws DeliveryError */
  async open(destination: Destination, limits: Limits): Promise<OpenSocket> {
    const opened = await this.connect(destination, limits);
    return destination.secure ? { ...opened, socket: await this.secure(opened.socket, destination) } : opened;
  }

  private async connect(destination: Destination, limits: Limits): Promise<OpenSocket> {
    let failure = new DeliveryError('connection_failed');
    for (const address of inOrder(destination.addresses).slice(0, MAX_TRIED)) {
      try {
        return { address, socket: await this.connectTo(address, destination.port, limits) };
      } catch (error) {
        failure = error as DeliveryError;
        if (failure.word === 'aborted' || failure.word === 'private_address') break;
      }
    }
    throw failure;
  }

  private connectTo(address: string, port: number, { notAfter, signal }: Limits): Promise<Socket> {
    return new Promise((resolve, reject) => {
      // An address needs no lookup, so any lookup is refused.
      const socket = connectTcp({ host: address, port, noDelay: true, lookup: refuseLookup });
      const give = (word: string): void => void socket.destroy(new DeliveryError(word));
      const onAbort = (): void => give('aborted');
      const timeoutMs = Math.max(0, Math.min(this.options.connectMs, notAfter - performance.now()));
      const timer = setTimeout(() => give('connect_timeout'), timeoutMs);
      signal?.addEventListener('abort', onAbort);
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      socket.on('error', (error) => {
        settle();
        const word = CONNECTION[codeOf(error) ?? ''] ?? 'connection_failed';
        reject(error instanceof DeliveryError ? error : new DeliveryError(word));
      });
      socket.once('connect', () => {
        settle();
        const reached = socket.remoteAddress;
        if (reached === undefined) give('connection_reset');
        else if (!isSameAddress(reached, address) || !this.options.isAllowed(reached)) give('private_address');
        else resolve(socket);
      });
      if (signal?.aborted === true) onAbort();
    });
  }

  private secure(socket: Socket, { host, port }: Destination): Promise<Socket> {
    if (performance.now() - this.sessionsSince > SESSIONS_KEPT_MS) {
      this.sessionsSince = performance.now();
      this.handshake = buildConnector(this.tlsOptions);
    }
    const hostname = host.startsWith('[') ? host.slice(1, -1) : host;
    return new Promise((resolve, reject) => {
      const options = { protocol: 'https:', hostname, host, port: String(port), httpSocket: socket };
      this.handshake(options, (error, secured) => {
        if (error === null) return resolve(secured);
        socket.destroy();
        reject(new DeliveryError(tlsWord(error)));
      });
    });
  }
}

/** IPv4 first, because it works nearly everywhere, then alternating families. */
function inOrder(addresses: readonly string[]): string[] {
  const four = addresses.filter((address) => isIP(address) === 4);
  const six = addresses.filter((address) => isIP(address) !== 4);
  return Array.from({ length: Math.max(four.length, six.length) }, (_, index) =>
    [four[index], six[index]].filter((address) => address !== undefined),
  ).flat();
}

function refuseLookup(_host: string, _options: unknown, callback: (error: Error, address: string) => void): void {
  callback(new Error('nothing is looked up while connecting'), '');
}
