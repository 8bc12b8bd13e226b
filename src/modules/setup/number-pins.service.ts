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

/** Sealed PINs of numbers' two-step verification. WhatsApp requires the same PIN at each registration. */
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
   * The PIN for registering a number: the given one, otherwise the stored one, otherwise a new one. It is stored before
   * use, so that it is known if WhatsApp's answer is lost.
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

  /** The stored PIN turned out to be wrong. */
  forget(organizationId: string, phoneNumberId: string): Promise<void> {
    return this.pins.remove(organizationId, phoneNumberId);
  }
}
