import { randomInt } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { newId } from '../../common/ids.js';
import { SecretBox, type SecretPlace } from '../../infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../infrastructure/secrets/secret-rotation.js';
import { NumberPinsRepository } from './number-pins.repository.js';

const place = (id: string, organizationId: string): SecretPlace => ({
  table: 'number_pin',
  column: 'pin',
  organizationId,
  rowId: id,
});

/** PINs of the two-step verification of numbers, sealed. The platform asks for the same at each registration. */
@Injectable()
export class NumberPinsService {
  constructor(
    private readonly pins: NumberPinsRepository,
    private readonly secrets: SecretBox,
    rotation: SecretRotation,
  ) {
    rotation.add({ table: 'number_pin', column: 'pin_ciphertext', place });
  }

  /**
   * The PIN to register a number with: the given one, else the one that is kept, else a new one. It is kept before it is
   * used, so that it is known where the answer of the platform is lost.
   */
  async keep(organizationId: string, phoneNumberId: string, given: string | null): Promise<string> {
    const known = await this.pins.find(organizationId, phoneNumberId);
    if (given === null && known !== null)
      return this.secrets.open(known.pinCiphertext, place(known.id, organizationId));
    const pin = given ?? String(randomInt(1_000_000)).padStart(6, '0');
    const id = known?.id ?? newId();
    const pinCiphertext = this.secrets.seal(pin, place(id, organizationId));
    await this.pins.save({ id, organizationId, phoneNumberId, pinCiphertext });
    return pin;
  }

  /** It turned out to be another one. */
  forget(organizationId: string, phoneNumberId: string): Promise<void> {
    return this.pins.remove(organizationId, phoneNumberId);
  }
}
