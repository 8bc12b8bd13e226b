import type { ConnectionStatus } from './connection-status.js';
import type { ConnectionEntity } from './entities/connection.entity.js';

export { CONNECTION_STATUSES, type ConnectionStatus } from './connection-status.js';
export { endpointOf, MARKETING_ROUTES, type MarketingRoute } from './marketing-route.js';

/** A WhatsApp number of a workspace, without its token. */
export type Connection = Omit<ConnectionEntity, 'tokenCiphertext' | 'factsDueAt' | 'profileUpdatedAt'>;

/** A restricted number may still answer its customers: what it may send the platform decides message by message. */
export function canSend(status: ConnectionStatus): boolean {
  return status === 'connected' || status === 'restricted';
}

/** What a sender needs for one number. */
export interface SendingConnection extends Connection {
  /** The provider's bearer token, plain: never log or store it. */
  token: string;
}

type Fact = 'verifiedName' | 'qualityRating' | 'messagingLimit' | 'throughputPerSecond' | 'status' | 'marketingStatus';

/** What the platform says of a number; null for what it left out. */
export type ConnectionFacts = { [Name in Fact]: Connection[Name] | null };

type Given = 'organizationId' | 'phoneNumberId' | 'wabaId' | 'phoneNumber';

/** A number to connect; what is left out stays as it is, or as a new number has it. */
export interface NewConnection
  extends
    Pick<Connection, Given>,
    Partial<Pick<ConnectionEntity, Fact | 'throughputFixed' | 'timezone' | 'marketingRoute'>> {
  token: string;
}
