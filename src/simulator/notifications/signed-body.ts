import { createHmac } from 'node:crypto';

/** A notification as it goes over the wire: the bytes, and the signatures over exactly these bytes. */
export interface SignedBody {
  bytes: Buffer;
  headers: Record<string, string>;
}

/**
 * JSON as the platform writes it: every character outside ASCII as `\uXXXX`, every slash as `\/`. Whoever parses a body and
 * signs its own rendering of it finds another signature.
 */
export function escapedJson(value: object): string {
  return JSON.stringify(value).replaceAll(/[/\u0080-\uffff]/g, (character) =>
    character === '/' ? '\\/' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** Renders and signs a notification. */
export function signBody(value: object, appSecret: string): SignedBody {
  const bytes = Buffer.from(escapedJson(value), 'latin1');
  return {
    bytes,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'facebookexternalua',
      'x-hub-signature': `sha1=${createHmac('sha1', appSecret).update(bytes).digest('hex')}`,
      'x-hub-signature-256': `sha256=${createHmac('sha256', appSecret).update(bytes).digest('hex')}`,
    },
  };
}
