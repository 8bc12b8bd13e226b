import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { buildConnector } from 'undici';

/** Before the other address family is tried; Node's 250 ms give up on far hosts that would have answered. */
export const ADDRESS_ATTEMPT_MS = 1_000;

/** How connections to the platform are made, whatever travels on them. */
export function connectOptions(options: {
  readonly lookup?: LookupFunction | undefined;
  /** Certificate authorities to trust instead of the system's (PEM). */
  readonly ca?: string | undefined;
}): buildConnector.BuildOptions {
  return {
    // Said outright, NODE_TLS_REJECT_UNAUTHORIZED=0 in the environment does not undo it.
    rejectUnauthorized: true,
    lookup: shareLookups(options.lookup),
    // One for all: tls.connect would make a context, and OpenSSL's memory with it, for every connection.
    secureContext: createSecureContext({ ca: options.ca }),
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
      for (const each of mine) {
        each(error, Array.isArray(address) ? copyOf(address) : address, family);
      }
    });
  };
}

function copyOf(addresses: LookupAddress[]): LookupAddress[] {
  return addresses.map((address) => ({ ...address }));
}
