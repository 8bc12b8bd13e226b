import { Injectable } from '@nestjs/common';
import { SecretBox } from '../../infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../infrastructure/secrets/secret-rotation.js';
import type { DestinationSecrets } from './destinations.types.js';

const SECRETS = { table: 'event_destination', column: 'secrets_ciphertext' };

/** Seals the secrets of a destination for storage, and opens them for a connection. */
@Injectable()
export class DestinationBox {
  constructor(
    private readonly box: SecretBox,
    rotation: SecretRotation,
  ) {
    rotation.add(SECRETS);
  }

  /** Null: there are none. */
  seal(organizationId: string, id: string, secrets: DestinationSecrets): Buffer | null {
    if (Object.keys(secrets).length === 0) return null;
    return this.box.seal(JSON.stringify(secrets), { ...SECRETS, organizationId, rowId: id });
  }

  /**
   * @param sealed base64 of the stored bytes.
   * @throws Error where it cannot be opened: the key is missing, or the bytes belong to another row.
   */
  open(organizationId: string, id: string, sealed: string | null): DestinationSecrets {
    if (sealed === null) return {};
    const plain = this.box.open(Buffer.from(sealed, 'base64'), { ...SECRETS, organizationId, rowId: id });
    return JSON.parse(plain) as DestinationSecrets;
  }
}
