import { Column, Entity, PrimaryColumn } from 'typeorm';

/** Who has signed in at an issuer at least once and was let in. */
@Entity('person')
export class PersonEntity {
  @PrimaryColumn('uuid')
  id!: string;

  /** Address of the issuer, as its tokens have it. */
  @Column('text')
  issuer!: string;

  /** The person's id at the issuer. */
  @Column('text')
  subject!: string;

  @Column('text')
  email!: string;

  @Column('text')
  name!: string;

  @Column('boolean')
  isOperator!: boolean;

  @Column({ type: 'timestamptz', precision: 3 })
  lastSignedInAt!: Date;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
