import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { createSecureContext } from 'node:tls';
import { buildConnector } from 'undici';
import { isSameAddress } from '../../../common/public-address.js';
import { connectWord, DeliveryError, tlsWord } from './delivery-error.js';

export interface ConnectorOptions {
  /** For TCP with one address, in milliseconds. */
  readonly connectTimeoutMs: number;
  readonly tlsTimeoutMs: number;
  /** Certificate authorities to trust instead of Node's (PEM). */
  readonly ca: string | undefined;
  /** Whether an address may be spoken to; asked again of the address that the socket says it reached. */
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
  /** The one it is connected to. */
  readonly address: string;
}

/** Addresses tried one after the other where the first does not take the connection. */
const MOST_TRIED = 3;

/** A session lets a handshake pass without the certificate, which is to be seen again from time to time. */
const SESSIONS_KEPT_MS = 60_000;

/**
 * Opens connections to addresses, never to names, so that nothing is looked up between the check and the connection.
 * Not one byte is written before the address that the socket reached was checked, and none of a request before the
 * certificate was. undici's connector makes the handshakes, and resumes sessions.
 */
export class Connector {
  private readonly tlsOptions: buildConnector.BuildOptions;
  private handshake: buildConnector.connector;
  private sessionsSince = performance.now();

  constructor(private readonly options: ConnectorOptions) {
    this.tlsOptions = {
      // One for all: tls.connect would make a context, and OpenSSL's memory with it, for every connection.
      secureContext: createSecureContext({ ca: options.ca, minVersion: 'TLSv1.2' }),
      // Said outright, NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment does not undo it.
      rejectUnauthorized: true,
      timeout: options.tlsTimeoutMs,
    };
    this.handshake = buildConnector(this.tlsOptions);
  }

  /** A connected, for https also verified, socket. @throws DeliveryError */
  async open(destination: Destination, limits: Limits): Promise<OpenSocket> {
    const opened = await this.connect(destination, limits);
    return destination.secure ? { ...opened, socket: await this.secure(opened.socket, destination) } : opened;
  }

  private async connect(destination: Destination, limits: Limits): Promise<OpenSocket> {
    let failure = new DeliveryError('connection_failed');
    for (const address of inOrder(destination.addresses).slice(0, MOST_TRIED)) {
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
      // An address needs no lookup; should one be asked for all the same, it is refused.
      const socket = connectTcp({ host: address, port, noDelay: true, lookup: refuseLookup });
      const give = (word: string): void => void socket.destroy(new DeliveryError(word));
      const onAbort = (): void => give('aborted');
      const timeoutMs = Math.max(0, Math.min(this.options.connectTimeoutMs, notAfter - performance.now()));
      const timer = setTimeout(() => give('connect_timeout'), timeoutMs);
      signal?.addEventListener('abort', onAbort);
      const settle = (): void => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
      };
      socket.on('error', (error) => {
        settle();
        reject(error instanceof DeliveryError ? error : new DeliveryError(connectWord(error)));
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

/** IPv4 first, which works from nearly everywhere, then the families by turns. */
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
