import type { LookupFunction } from 'node:net';
import { createSecureContext } from 'node:tls';
import type { buildConnector } from 'undici';
import { shareLookups } from './shared-lookup.js';

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
