import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The PIN with which a number was registered. */
@Entity('number_pin')
export class NumberPinEntity {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  /** The platform's id of the number. */
  @Column('text')
  phoneNumberId!: string;

  /** Sealed by SecretBox. */
  @Column('bytea')
  pinCiphertext!: Buffer;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
