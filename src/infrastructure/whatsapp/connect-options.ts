import type { Config } from '../config/config.js';
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Pool } from 'undici';

/** Before the other address family is tried; Node's 250 ms give up on far hosts that would have answered. */
const ADDRESS_ATTEMPT_MS = 1_000;

/**
 * An idle socket lives for 4 s, or 2 s less than the server announces. A request on a socket which the other side is
 * just closing has an unknown outcome, so a shorter life is worth more than a saved handshake.
 */
const KEEP_ALIVE_MS = 4_000;

export interface ConnectOptions {
  /** Name lookup, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** From the last byte of the request to the first of the answer; kept to within a second. */
  readonly headersTimeoutMs: number;
  /** Without a byte of the answer's body. */
  readonly bodyTimeoutMs: number;
  /** Sockets at the most, for each host. */
  readonly connections: number;
  readonly lookup?: LookupFunction | undefined;
  /** Certificate authorities to trust instead of the system's (PEM). */
  readonly ca?: string | undefined;
}

/** How connections to the platform are made and kept, whatever travels on them. */
export function poolOptions(options: ConnectOptions): Pool.Options {
  return {
    connections: options.connections,
    // More than one request on a socket would let undici resend those behind one that was aborted.
    pipelining: 1,
    allowH2: false,
    connectTimeout: options.connectTimeoutMs,
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    connect: {
      // Said outright, NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment does not undo it.
      rejectUnauthorized: true,
      lookup: shareLookups(options.lookup),
      // One for all: tls.connect would make a context, and OpenSSL's memory with it, for every connection.
      secureContext: createSecureContext({ ca: options.ca }),
    },
  };
}

type Callback = Parameters<LookupFunction>[2];

/**
 * Joins lookups of one name that run at the same time. The system's resolver holds one of the process's few worker
 * threads for as long as it takes: 256 sockets that connect at once to a name server that hangs would stop the file
 * system and the cryptography too. Nothing is kept once the answer is there.
 */
export function shareLookups(lookup: LookupFunction = systemLookup): LookupFunction {
  const waiting = new Map<string, Callback[]>();
  return (hostname, options, callback) => {
    const key = JSON.stringify([hostname, options.family, options.hints, options.all, options.order]);
    const callbacks = waiting.get(key);
    if (callbacks !== undefined) {
      callbacks.push(callback);
      return;
    }
    const mine = [callback];
    waiting.set(key, mine);
    lookup(hostname, options, (error, address, family) => {
      waiting.delete(key);
      for (const each of mine) each(error, Array.isArray(address) ? copyOf(address) : address, family);
    });
  };
}

function copyOf(addresses: LookupAddress[]): LookupAddress[] {
  return addresses.map((address) => ({ ...address }));
}

/** Where the platform is called: an origin, and the path before every endpoint's own. */
export interface ApiRoot {
  /** Scheme, host and port. */
  readonly origin: string;
  /** `/v26.0`, after a path of the address where it has one. */
  readonly path: string;
}

/** The address of the platform: the one that is set, or that of the simulator on this machine. */
export function platformUrl({ apiUrl, simulatorPort }: Pick<Config['whatsapp'], 'apiUrl' | 'simulatorPort'>): string {
  return apiUrl ?? `http://127.0.0.1:${simulatorPort}`;
}

/** @throws Error when the address or the version can't be used. */
export function apiRootOf(baseUrl: string, apiVersion: string): ApiRoot {
  const { origin, protocol, pathname } = new URL(baseUrl);
  if (protocol !== 'https:' && protocol !== 'http:') {
    throw new Error('the address of the platform must begin with https:// or http://');
  }
  if (!/^v\d+\.\d+$/.test(apiVersion)) throw new Error('the version of the platform must look like v26.0');
  return { origin, path: `${pathname.replace(/\/+$/, '')}/${apiVersion}` };
}
