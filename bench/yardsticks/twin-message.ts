import { Column, CreateDateColumn, Entity, Index, PrimaryGeneratedColumn } from 'typeorm';

/** A message as the naive twin stores it: fewer columns and fewer indexes than Herald's, so no harder to write. */
@Entity('twin_message')
export class TwinMessage {
  @PrimaryGeneratedColumn('uuid')
  id!: string;

  @Index({ unique: true })
  @Column('uuid', { name: 'idempotency_key' })
  idempotencyKey!: string;

  @Column('uuid', { name: 'connection_id' })
  connectionId!: string;

  @Column('text')
  recipient!: string;

  @Column('text')
  type!: string;

  @Column('jsonb')
  content!: object;

  @Index()
  @Column('text')
  status!: string;

  @Column('integer', { name: 'attempt_count' })
  attemptCount!: number;

  @CreateDateColumn({ name: 'created_at', type: 'timestamptz' })
  createdAt!: Date;
}
