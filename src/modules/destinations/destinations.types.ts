import type { JournalPlace } from '../webhook/events/journal.types.js';
import type { WebhookEvent } from '../webhook/webhook.types.js';

export const DESTINATION_KINDS = ['nats', 'rabbitmq', 'sqs'] as const;
export type DestinationKind = (typeof DESTINATION_KINDS)[number];

export const DESTINATION_STATUSES = ['active', 'failing', 'paused'] as const;
export type DestinationStatus = (typeof DESTINATION_STATUSES)[number];

/** Of one workspace. */
export const MAX_DESTINATIONS = 20;

/** Precedes the id of a destination in the key of its lane. */
export const DESTINATION_LANE = 'destination:';

/** The settings that a kind needs to connect, without secrets. */
export interface NatsSettings {
  url: string;
  subject: string;
  username: string | null;
}
export interface RabbitmqSettings {
  url: string;
  exchange: string;
  routing_key: string;
  username: string;
}
export interface SqsSettings {
  queue_url: string;
  region: string;
  access_key_id: string;
}
export type DestinationSettings = NatsSettings | RabbitmqSettings | SqsSettings;

/** By their names in the API. */
export type DestinationSecrets = Readonly<Record<string, string>>;

/** What a connection needs. */
export interface Connecting {
  id: string;
  organizationId: string;
  kind: DestinationKind;
  settings: DestinationSettings;
  secrets: DestinationSecrets;
}

/** A destination with a claimed turn: see `DestinationTurns`. */
export interface ClaimedTurn {
  id: string;
  organizationId: string;
  kind: DestinationKind;
  settings: DestinationSettings;
  /** Base64 of the sealed bytes; null: it has none. */
  secrets: string | null;
  /** The revision of the settings of its connection. */
  revision: number;
  events: WebhookEvent[];
  connectionIds: string[];
  cursor: JournalPlace;
  /** Events after the cursor that are already written. */
  writtenAhead: string[];
  attemptId: string;
  /** Failed turns since the last success. */
  tries: number;
  /** Monotonic milliseconds before the claim. */
  claimedAt: number;
}

/** The outcome of a turn. */
export interface TurnOutcome {
  /** Null: nothing was read. */
  cursor: JournalPlace | null;
  writtenAhead: string[];
  written: number;
  /** Events that can never be written. */
  lost: number;
  /** A short stable word; null: no error. */
  error: string | null;
  /** Milliseconds until the next turn. */
  delayMs: number;
}
