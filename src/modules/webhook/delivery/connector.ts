import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, createSecureContext, type SecureContext, type TLSSocket } from 'node:tls';
import { isSameAddress } from '../address/check-address.js';
import { bounded } from './bounded.js';
import { connectWord, DeliveryFault, tlsWord } from './delivery-fault.js';

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

/** Addresses tried one after the other where nobody listens on the first. */
const MOST_TRIED = 3;

/**
 * Opens connections to addresses, never to names, so that nothing is looked up between the check and the connection.
 * Not one byte is written before the socket's own word on whom it reached was checked, and none of a request before the
 * certificate was.
 */
export class Connector {
  private readonly secureContext: SecureContext;

  constructor(private readonly options: ConnectorOptions) {
    // One for all: tls.connect would make a context, and OpenSSL's memory with it, for every connection.
    this.secureContext = createSecureContext({ ca: options.ca, minVersion: 'TLSv1.2' });
  }

  /** A connected, for https also verified, socket. @throws DeliveryFault */
  async open(destination: Destination, limits: Limits): Promise<OpenSocket> {
    const opened = await this.connect(destination, limits);
    return destination.secure
      ? { ...opened, socket: await this.secure(opened.socket, destination.host, limits) }
      : opened;
  }

  private async connect(destination: Destination, limits: Limits): Promise<OpenSocket> {
    let fault = new DeliveryFault('connection_failed');
    for (const address of inOrder(destination.addresses).slice(0, MOST_TRIED)) {
      try {
        return { address, socket: await this.connectTo(address, destination.port, limits) };
      } catch (error) {
        fault = error as DeliveryFault;
        if (fault.word === 'aborted' || fault.word === 'private_address') {
          break;
        }
      }
    }
    throw fault;
  }

  private connectTo(address: string, port: number, { notAfter, signal }: Limits): Promise<Socket> {
    const timeoutMs = Math.min(this.options.connectTimeoutMs, notAfter - performance.now());
    return bounded({ timeoutMs, word: 'connect_timeout', signal }, (resolve, reject) => {
      // An address needs no lookup; should one be asked for all the same, it is refused.
      const socket = connectTcp({ host: address, port, noDelay: true, lookup: refuseLookup });
      const onError = (error: unknown): void => reject(new DeliveryFault(connectWord(error)));
      socket.on('error', onError);
      socket.once('connect', () => {
        const reached = socket.remoteAddress;
        if (reached === undefined || !isSameAddress(reached, address) || !this.options.isAllowed(reached)) {
          socket.destroy();
          reject(new DeliveryFault(reached === undefined ? 'connection_reset' : 'private_address'));
          return;
        }
        resolve(socket);
        // A plain socket passes on to the HTTP client, which listens from here on.
        setImmediate(() => socket.off('error', onError).on('error', ignore));
      });
      return () => socket.destroy();
    });
  }

  private secure(socket: Socket, host: string, { notAfter, signal }: Limits): Promise<TLSSocket> {
    const timeoutMs = Math.min(this.options.tlsTimeoutMs, notAfter - performance.now());
    return bounded<TLSSocket>({ timeoutMs, word: 'tls: timeout', signal }, (resolve, reject) => {
      const literal = host.startsWith('[') ? host.slice(1, -1) : host;
      const secured = connectTls({
        socket,
        host: literal,
        // A server name is never an address.
        ...(isIP(literal) === 0 ? { servername: literal } : {}),
        secureContext: this.secureContext,
        ALPNProtocols: ['http/1.1'],
        // Said outright, NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment does not undo it.
        rejectUnauthorized: true,
      });
      const fail = (word: string): void => {
        reject(new DeliveryFault(word));
        secured.destroy();
        socket.destroy();
      };
      secured.on('error', (error) => fail(tlsWord(error)));
      const onClose = (): void => fail('tls: connection closed during the handshake');
      secured.once('close', onClose);
      secured.once('secureConnect', () => {
        if (secured.authorized) {
          secured.off('close', onClose);
          resolve(secured);
        } else {
          fail('tls: certificate is not trusted');
        }
      });
      return () => fail('tls: timeout');
    }).catch((fault: unknown) => {
      socket.destroy();
      throw fault;
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

function ignore(): void {}
