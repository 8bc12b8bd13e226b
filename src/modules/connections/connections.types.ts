import type { ConnectionStatus } from './connection-status.js';
import type { ConnectionEntity } from './entities/connection.entity.js';

export { CONNECTION_STATUSES, type ConnectionStatus } from './connection-status.js';
export { endpointOf, MARKETING_ROUTES, type MarketingRoute } from './marketing-route.js';

/** A WhatsApp number of a workspace, without its token. */
export type Connection = Omit<ConnectionEntity, 'tokenCiphertext' | 'factsDueAt' | 'profileUpdatedAt'>;

/** A restricted number may still answer its customers: WhatsApp decides message by message. */
export function canSend(status: ConnectionStatus): boolean {
  return status === 'connected' || status === 'restricted';
}

/** What a sender needs for one number. */
export interface SendingConnection extends Connection {
  /** The provider's bearer token, plain: never log or store it. */
  token: string;
}

type Fact = 'verifiedName' | 'qualityRating' | 'messagingLimit' | 'throughputPerSecond' | 'status' | 'marketingStatus';

/** WhatsApp's facts about a number; null for absent ones. */
export type ConnectionFacts = { [Name in Fact]: Connection[Name] | null };

type Given = 'organizationId' | 'phoneNumberId' | 'wabaId' | 'phoneNumber';

/** A number to connect; absent fields stay unchanged, or get the defaults of a new number. */
export interface NewConnection
  extends
    Pick<Connection, Given>,
    Partial<Pick<ConnectionEntity, Fact | 'throughputFixed' | 'timezone' | 'marketingRoute'>> {
  token: string;
}
