import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A browser in which a person is signed in. A session that ended has no row. */
@Entity('person_session')
export class PersonSessionEntity {
  @PrimaryColumn('uuid')
  id!: string;

  /** SHA-256 of the text in the cookie. */
  @Column('bytea', { select: false })
  hash!: Buffer;

  @Column('uuid')
  personId!: string;

  /** The issuer's name of it, by which it signs out. */
  @Column('text', { nullable: true })
  issuerSession!: string | null;

  @Column('timestamptz')
  expiresAt!: Date;

  /** Written at most once a minute, so the real last use may be up to a minute later. */
  @Column({ type: 'timestamptz', insert: false })
  lastSeenAt!: Date;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;
}
