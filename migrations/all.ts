import { Foundation1764000000000 } from './1764000000000-foundation.js';
import { Templates1764100000000 } from './1764100000000-templates.js';
import { Media1764200000000 } from './1764200000000-media.js';
import { Webhook1764300000000 } from './1764300000000-webhook.js';
import { ConnectionFacts1764400000000 } from './1764400000000-connection-facts.js';
import { MessageEvents1764500000000 } from './1764500000000-message-events.js';
import { Otp1764600000000 } from './1764600000000-otp.js';
import { Retention1764700000000 } from './1764700000000-retention.js';
import { MediaAge1764810000000 } from './1764810000000-media-age.js';
import { OtpWaiting1765020000000 } from './1765020000000-otp-waiting.js';
import { NotificationFailed1765030000000 } from './1765030000000-notification-failed.js';
import { OtpAccounts1765050000000 } from './1765050000000-otp-accounts.js';
import { StorageQuota1765051000000 } from './1765051000000-storage-quota.js';
import { RecipientUserId1765070000000 } from './1765070000000-recipient-user-id.js';
import { JournalFilters1765072000000 } from './1765072000000-journal-filters.js';
import { TemplateTtl1765080000000 } from './1765080000000-template-ttl.js';
import { QueueAndState1766000000000 } from './1766000000000-queue-and-state.js';
import { MoveMessages1766000010000 } from './1766000010000-move-messages.js';
import { ConstantJournal1766000020000 } from './1766000020000-constant-journal.js';
import { WebhookRests1766010000000 } from './1766010000000-webhook-rests.js';
import { DeliveryDays1766020000000 } from './1766020000000-delivery-days.js';
import { DatabaseIdentity1766030000000 } from './1766030000000-database-identity.js';
import { TraceContext1766040000000 } from './1766040000000-trace-context.js';
import { AuditEvents1766050000000 } from './1766050000000-audit-events.js';
import { MessageRead1766070000000 } from './1766070000000-message-read.js';
import { MessageSchedule1766080000000 } from './1766080000000-message-schedule.js';
import { MessageExpiry1766080010000 } from './1766080010000-message-expiry.js';
import { WebhookChoices1766090000000 } from './1766090000000-webhook-choices.js';
import { Events1766100000000 } from './1766100000000-events.js';
import { QueueIndexes1766110000000 } from './1766110000000-queue-indexes.js';
import { MediaUsage1766110010000 } from './1766110010000-media-usage.js';
import { SweepRounds1766120000000 } from './1766120000000-sweep-rounds.js';
import { OtpUsedKeys1766120010000 } from './1766120010000-otp-used-keys.js';
import { MessageRetried1766120020000 } from './1766120020000-message-retried.js';
import { QueueTurns1766130000000 } from './1766130000000-queue-turns.js';

/** The schema's history, oldest first. A test compares this list with the folder. */
export const migrations = [
  Foundation1764000000000,
  Templates1764100000000,
  Media1764200000000,
  Webhook1764300000000,
  ConnectionFacts1764400000000,
  MessageEvents1764500000000,
  Otp1764600000000,
  Retention1764700000000,
  MediaAge1764810000000,
  OtpWaiting1765020000000,
  NotificationFailed1765030000000,
  OtpAccounts1765050000000,
  StorageQuota1765051000000,
  RecipientUserId1765070000000,
  JournalFilters1765072000000,
  TemplateTtl1765080000000,
  QueueAndState1766000000000,
  MoveMessages1766000010000,
  ConstantJournal1766000020000,
  WebhookRests1766010000000,
  DeliveryDays1766020000000,
  DatabaseIdentity1766030000000,
  TraceContext1766040000000,
  AuditEvents1766050000000,
  MessageRead1766070000000,
  MessageSchedule1766080000000,
  MessageExpiry1766080010000,
  WebhookChoices1766090000000,
  Events1766100000000,
  QueueIndexes1766110000000,
  MediaUsage1766110010000,
  SweepRounds1766120000000,
  OtpUsedKeys1766120010000,
  MessageRetried1766120020000,
  QueueTurns1766130000000,
];
