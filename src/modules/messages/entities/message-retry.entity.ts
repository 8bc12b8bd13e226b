import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The key of a retry, which stands for the message that it queued again. */
@Entity('message_retry')
export class MessageRetryEntity {
  @PrimaryColumn('uuid')
  organizationId!: string;

  @PrimaryColumn('uuid')
  idempotencyKey!: string;

  @Column('uuid')
  messageId!: string;
}
