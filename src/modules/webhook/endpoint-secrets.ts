import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids.js';
import { SecretBox } from '../../infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../infrastructure/secrets/secret-rotation.js';
import type { SealedSecret } from './endpoints.repository.js';
import { newWebhookSecret } from './webhook-signature.js';

const HINT_CHARACTERS = 4;

/** Signing secrets: made, sealed for their row, and opened for signing. */
@Injectable()
export class EndpointSecrets {
  constructor(
    private readonly box: SecretBox,
    rotation: SecretRotation,
  ) {
    rotation.add({
      table: 'webhook_secret',
      column: 'ciphertext',
      key: 'id',
      organization: 'organization_id',
      place: (rowId, organizationId) => placeOf(organizationId, rowId),
    });
  }

  /** A new secret, plain for its one appearance and sealed for the database. */
  make(organizationId: string): { plain: string; sealed: SealedSecret } {
    const id = newId();
    const plain = newWebhookSecret();
    const ciphertext = this.box.seal(plain, placeOf(organizationId, id));
    return { plain, sealed: { id, ciphertext, hint: plain.slice(-HINT_CHARACTERS) } };
  }

  /**
   * @param sealed base64 of the stored bytes.
   * @throws Error where it cannot be opened: the key is missing, or the bytes belong to another row.
   */
  open(organizationId: string, id: string, sealed: string): string {
    return this.box.open(Buffer.from(sealed, 'base64'), placeOf(organizationId, id));
  }
}

function placeOf(organizationId: string, rowId: string) {
  return { table: 'webhook_secret', column: 'ciphertext', organizationId, rowId };
}
