import type { Config } from '../config/config.js';
import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { Pool } from 'undici';

/** Wait before the other address family is tried; Node's 250 ms give up on distant hosts that would have answered. */
const ADDRESS_ATTEMPT_MS = 1_000;

/**
 * An idle socket lives for 4 s, or 2 s less than the server announces. A request on a socket that the other side is
 * just closing has an unknown outcome, so a short life is worth an extra handshake.
 */
const KEEP_ALIVE_MS = 4_000;

export interface ConnectOptions {
  /** For name lookup, TCP and TLS together. */
  readonly connectTimeoutMs: number;
  /** From the last byte of the request to the first of the answer; accurate to a second. */
  readonly headersTimeoutMs: number;
  /** Time without a byte of the answer's body. */
  readonly bodyTimeoutMs: number;
  /** Limit of sockets for each host. */
  readonly connections: number;
  readonly lookup?: LookupFunction | undefined;
  /** Certificate authorities to trust instead of the system's (PEM). */
  readonly ca?: string | undefined;
}

/** How connections to WhatsApp are made and kept, for any kind of request. */
export function poolOptions(options: ConnectOptions): Pool.Options {
  return {
    connections: options.connections,
    // With more than one request on a socket, undici would resend those behind an aborted one.
    pipelining: 1,
    allowH2: false,
    connectTimeout: options.connectTimeoutMs,
    headersTimeout: options.headersTimeoutMs,
    bodyTimeout: options.bodyTimeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    connect: {
      // Explicit, so that NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment has no effect.
      rejectUnauthorized: true,
      lookup: shareLookups(options.lookup),
      // Shared, because tls.connect would create a context, with OpenSSL's memory, for every connection.
      secureContext: createSecureContext({ ca: options.ca }),
    },
  };
}

type Callback = Parameters<LookupFunction>[2];

/**
 * Shares concurrent lookups of one name. The system's resolver occupies one of the process's few worker threads while
 * it runs: 256 sockets connecting at the same time, with a name server that hangs, would stop the file system and
 * cryptography too. Answers are not cached.
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

/** The base address of WhatsApp: an origin, and the path before every endpoint. */
export interface ApiRoot {
  /** Scheme, host and port. */
  readonly origin: string;
  /** `/v26.0`, preceded by the path of the address, if any. */
  readonly path: string;
}

/** The configured address of WhatsApp, or that of the simulator on this machine. */
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
