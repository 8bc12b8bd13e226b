import { Injectable } from '@nestjs/common';
import type { ErrorDetail } from '../../common/app-error.js';
import { clip } from '../../common/clip.js';
import { newId } from '../../common/ids.js';
import { SecretBox } from '../../infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../infrastructure/secrets/secret-rotation.js';
import { newWebhookSecret } from '../../common/standard-webhooks.js';
import type { WebhookSecretEntity } from './entities/webhook-endpoint.entity.js';

/** A secret as it is stored: sealed for its row. */
export type SealedSecret = Pick<WebhookSecretEntity, 'id' | 'ciphertext' | 'hint'>;

/** Headers that a workspace adds to its deliveries, by name. */
export type WebhookHeaders = Readonly<Record<string, string>>;

export const MAX_HEADERS = 10;
export const MAX_VALUE_LENGTH = 1_000;
/** Limit of all names and values: servers accept 8 to 16 KiB of headers, including ours. */
const MAX_CHARACTERS = 4_096;

/** Our headers and those of HTTP begin differently, so none of them can be set. */
export const HEADER_NAME = '^([Xx]-[A-Za-z0-9-]{1,62}|[Aa]uthorization)$';
const NAME = new RegExp(HEADER_NAME);
/** Visible ASCII with blanks in between: without a line break it cannot start another header. */
const VALUE = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Violations in headers that a caller chose; never repeats a value. */
export function headerViolations(headers: Readonly<Record<string, unknown>>): ErrorDetail[] {
  const details: ErrorDetail[] = [];
  const seen = new Set<string>();
  let characters = 0;
  const names = Object.keys(headers);
  if (names.length > MAX_HEADERS) {
    return [{ field: 'headers', rule: 'max_items', message: `headers takes at most ${MAX_HEADERS} headers.` }];
  }
  for (const name of names) {
    const value = headers[name];
    const field = `headers.${clip(name, 64)}`;
    const refuse = (rule: string, message: string): void => void details.push({ field, rule, message });
    if (!NAME.test(name)) {
      refuse('name', 'A header must be named X-..., with letters, digits and hyphens, or Authorization.');
    } else if (seen.has(name.toLowerCase())) {
      refuse('repeated', 'This header is given twice; upper and lower case make no difference.');
    } else if (typeof value !== 'string' || value.length > MAX_VALUE_LENGTH || !VALUE.test(value)) {
      refuse(
        'format',
        `The value must be 1 to ${MAX_VALUE_LENGTH} visible ASCII characters, with blanks between them only.`,
      );
    } else characters += name.length + value.length;
    seen.add(name.toLowerCase());
  }
  if (characters > MAX_CHARACTERS) {
    const message = `All headers together may have ${MAX_CHARACTERS} characters at most.`;
    details.push({ field: 'headers', rule: 'max_length', message });
  }
  return details;
}

const SECRET = { table: 'webhook_secret', column: 'ciphertext' };
const HEADERS = { table: 'webhook_endpoint', column: 'headers_ciphertext' };
const HINT_CHARACTERS = 4;

/**
 * Seals signing secrets and an endpoint's headers, which are secret too, for storage, and opens them for a delivery.
 * Sealed values are base64 of the stored bytes.
 */
@Injectable()
export class EndpointSecrets {
  constructor(
    private readonly box: SecretBox,
    rotation: SecretRotation,
  ) {
    rotation.add(SECRET);
    rotation.add(HEADERS);
  }

  /** A secret, new or chosen by the workspace: plain, to be shown once, and sealed for the database. */
  make(organizationId: string, plain = newWebhookSecret()): { plain: string; sealed: SealedSecret } {
    const id = newId();
    const ciphertext = this.box.seal(plain, { ...SECRET, organizationId, rowId: id });
    return { plain, sealed: { id, ciphertext, hint: plain.slice(-HINT_CHARACTERS) } };
  }

  /** @throws Error where it cannot be opened: the key is missing, or the bytes belong to another row. */
  open(organizationId: string, id: string, sealed: string): string {
    return this.box.open(Buffer.from(sealed, 'base64'), { ...SECRET, organizationId, rowId: id });
  }

  /** Null: there are none. */
  sealHeaders(organizationId: string, endpointId: string, headers: WebhookHeaders): Buffer | null {
    if (Object.keys(headers).length === 0) return null;
    return this.box.seal(JSON.stringify(headers), { ...HEADERS, organizationId, rowId: endpointId });
  }

  /** Like `open`; null: there are none. */
  openHeaders(organizationId: string, endpointId: string, sealed: string | null): WebhookHeaders {
    if (sealed === null) return {};
    const place = { ...HEADERS, organizationId, rowId: endpointId };
    return JSON.parse(this.box.open(Buffer.from(sealed, 'base64'), place)) as WebhookHeaders;
  }
}
