import { Injectable } from '@nestjs/common';
import type { SecretPlace } from '../../infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../infrastructure/secrets/secret-rotation.js';

/** Where the token of a connection lives, as `SecretBox` has it. */
export function tokenPlace(row: { id: string; organizationId: string }): SecretPlace {
  return { table: 'connection', column: 'token', organizationId: row.organizationId, rowId: row.id };
}

/** The numbers' tokens, for whoever replaces the key that seals them. */
@Injectable()
export class ConnectionTokens {
  constructor(rotation: SecretRotation) {
    rotation.add({
      table: 'connection',
      column: 'token_ciphertext',
      key: 'id',
      organization: 'organization_id',
      place: (id, organizationId) => tokenPlace({ id, organizationId }),
    });
  }
}
