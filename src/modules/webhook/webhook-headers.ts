import { Injectable } from '@nestjs/common';
import type { ErrorDetail } from '../../common/app-error.js';
import { clip } from '../../common/clip.js';
import { SecretBox } from '../../infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../infrastructure/secrets/secret-rotation.js';

/** Headers that a workspace adds to its deliveries, by their names. */
export type WebhookHeaders = Readonly<Record<string, string>>;

export const MOST_HEADERS = 10;
export const LONGEST_VALUE = 1_000;
/** Of all names and values: a server takes 8 to 16 KiB of headers, and ours are among them. */
const MOST_CHARACTERS = 4_096;

/** Ours begin otherwise, so none of them can be set, nor those of HTTP itself. */
export const HEADER_NAME = '^([Xx]-[A-Za-z0-9-]{1,62}|[Aa]uthorization)$';
const NAME = new RegExp(HEADER_NAME);
/** Visible ASCII, blanks between: what has no line break cannot begin another header. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** What is wrong with headers that a caller chose; never repeats a value. */
export function headerViolations(headers: Readonly<Record<string, unknown>>): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const seen = new Set<string>();
  let characters = 0;
  const names = Object.keys(headers);
  if (names.length > MOST_HEADERS) {
    return [{ field: 'headers', rule: 'max_items', message: `headers takes at most ${MOST_HEADERS} headers.` }];
  }
  for (const name of names) {
    const value = headers[name];
    const field = `headers.${clip(name, 64)}`;
    const refuse = (rule: string, message: string): void => void details.push({ field, rule, message });
    if (!NAME.test(name)) {
      refuse('name', 'A header must be named X-..., with letters, digits and hyphens, or Authorization.');
    } else if (seen.has(name.toLowerCase())) {
      refuse('repeated', 'This header is given twice; upper and lower case make no difference.');
    } else if (typeof value !== 'string' || value.length > LONGEST_VALUE || !VALUE.test(value)) {
      refuse(
        'format',
        `The value must be 1 to ${LONGEST_VALUE} visible ASCII characters, with blanks between them only.`,
      );
    } else characters += name.length + value.length;
    seen.add(name.toLowerCase());
  }
  if (characters > MOST_CHARACTERS) {
    const message = `All headers together may have ${MOST_CHARACTERS} characters at most.`;
    details.push({ field: 'headers', rule: 'max_length', message });
  }
  return details;
}

const COLUMN = { table: 'webhook_endpoint', column: 'headers_ciphertext' };

/** Seals an endpoint's headers for its row, and opens them for a delivery. Values are as secret as a signing secret. */
@Injectable()
export class EndpointHeaders {
  constructor(
    private readonly box: SecretBox,
    rotation: SecretRotation,
  ) {
    rotation.add(COLUMN);
  }

  /** Null: there are none. */
  seal(organizationId: string, endpointId: string, headers: WebhookHeaders): Buffer | null {
    if (Object.keys(headers).length === 0) return null;
    return this.box.seal(JSON.stringify(headers), { ...COLUMN, organizationId, rowId: endpointId });
  }

  /**
   * @param sealed base64 of the stored bytes; null: there are none.
   * @throws Error where they cannot be opened: the key is missing, or the bytes belong to another row.
   */
  open(organizationId: string, endpointId: string, sealed: string | null): WebhookHeaders {
    if (sealed === null) return {};
    const place = { ...COLUMN, organizationId, rowId: endpointId };
    return JSON.parse(this.box.open(Buffer.from(sealed, 'base64'), place)) as WebhookHeaders;
  }
}
