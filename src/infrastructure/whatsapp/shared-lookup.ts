import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import type { LookupFunction } from 'node:net';

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
