import { Injectable } from '@nestjs/common';
import type { AppError } from '../../common/app-error.js';
import { Config } from '../../infrastructure/config/config.js';
import { platformUrl } from '../../infrastructure/whatsapp/connect-options.js';
import { CloudApiClient } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { ownList, ownObject, ownText } from '../../infrastructure/whatsapp/json-access.js';
import { isTokenRefused, type PlatformFailure } from '../../infrastructure/whatsapp/platform-result.js';
import { connectionsErrors } from './connections.errors.js';
import { ConnectionsService } from './connections.service.js';
import type { Connection, ConnectionFacts, NewConnection } from './connections.types.js';
import { digitsOf, factsOf } from './platform-facts.js';

export interface Credentials {
  phoneNumberId: string;
  wabaId: string;
  token: string;
}

/** Facts about a number before WhatsApp was asked. */
export type NumberToConnect = Pick<NewConnection, 'organizationId' | 'phoneNumberId' | 'wabaId' | 'token'> &
  Partial<Pick<NewConnection, 'phoneNumber' | 'throughputPerSecond' | 'marketingRoute'>>;

export interface CheckedNumber extends ConnectionFacts {
  /** Digits without `+`; null where WhatsApp did not return it. */
  phoneNumber: string | null;
  /** WhatsApp's own word for the number's state. */
  platformStatus: string | null;
}

const NUMBERS_A_PAGE = 100;
const MAX_PAGES = 20;

/** Checks with WhatsApp whether a number can be connected, and explains why if it can't. */
@Injectable()
export class ConnectionCheckService {
  constructor(
    private readonly client: CloudApiClient,
    private readonly config: Config,
    private readonly connections: ConnectionsService,
  ) {}

  /**
   * Checks a number with WhatsApp, subscribes to its notifications, and adds it or gives it a new token. Nothing is
   * stored if one of these fails.
   *
   * @param given `phoneNumber` where WhatsApp does not return it
   * @param stored as of `ConnectionsService.add`
   * @throws NUMBER_REFUSED (422, 502), NUMBER_TAKEN (409).
   */
  async connect(
    { phoneNumber: said, ...given }: NumberToConnect,
    stored?: (id: string) => Promise<void>,
  ): Promise<Connection> {
    const { phoneNumberId, wabaId, token } = given;
    const number = await this.check({ phoneNumberId, wabaId, token });
    // Only after the check: a caller without a valid token does not learn whether another workspace has the number.
    await this.connections.requireFree(given.organizationId, phoneNumberId);
    const phoneNumber = number.phoneNumber ?? said;
    if (phoneNumber === undefined)
      throw refused('the platform did not report the number; name it (phone_number, --phone-number)');
    if (said !== undefined && said !== phoneNumber) {
      throw refused(`the platform says that this is the number ${phoneNumber}, not ${said}; leave out phone_number`);
    }
    await this.subscribe({ phoneNumberId, wabaId, token });
    const added = {
      ...given,
      phoneNumber,
      verifiedName: number.verifiedName,
      qualityRating: number.qualityRating,
      messagingLimit: number.messagingLimit,
      marketingStatus: number.marketingStatus,
      ...(number.status !== null && { status: number.status }),
      ...(given.throughputPerSecond === undefined
        ? number.throughputPerSecond !== null && { throughputPerSecond: number.throughputPerSecond }
        : { throughputFixed: true }),
    };
    return this.connections.add(added, stored);
  }

  /**
   * Asks WhatsApp about a connected number, and stores the answer.
   *
   * @throws CONNECTION_NOT_FOUND (404), CONNECTION_NOT_READY (409), NUMBER_REFUSED (422, 502).
   */
  async recheck(organizationId: string, id: string): Promise<Connection> {
    const connection = await this.connections.sendable(organizationId, id);
    await this.connections.keepFacts(connection, await this.check(connection));
    return this.connections.getById(organizationId, id);
  }

  /**
   * Checks the token, the number, and that the account has the number.
   *
   * @throws NUMBER_REFUSED (422, 502) with one sentence about the fault and its remedy.
   */
  async check(credentials: Credentials): Promise<CheckedNumber> {
    const { phoneNumberId, wabaId, token } = credentials;
    const answer = await this.client.getPhoneNumber(phoneNumberId, token);
    if (!answer.ok) throw this.refusal(answer, `the number ${phoneNumberId}`);
    await this.requireInAccount(credentials);
    const { displayPhoneNumber, status } = answer.body;
    const marketing = await this.client.getMarketingStatus(wabaId, token);
    return { ...factsOf(answer.body, marketing), phoneNumber: digitsOf(displayPhoneNumber), platformStatus: status };
  }

  /**
   * Subscribes the token's app to the account's notifications.
   *
   * @throws NUMBER_REFUSED (422, 502) with one sentence that says what is wrong and what to do.
   */
  async subscribe({ wabaId, token }: Credentials): Promise<void> {
    const path = `/${encodeURIComponent(wabaId)}/subscribed_apps`;
    const answer = await this.client.request({ method: 'POST', path, token });
    if (!answer.ok) throw this.refusal(answer, `the subscription to the account ${wabaId}`);
  }

  private async requireInAccount({ phoneNumberId, wabaId, token }: Credentials): Promise<void> {
    const seen: string[] = [];
    let after: string | null = null;
    for (let page = 0; page < MAX_PAGES; page++) {
      const answer = await this.client.request({
        method: 'GET',
        path: `/${encodeURIComponent(wabaId)}/phone_numbers`,
        token,
        query: { fields: 'id', limit: String(NUMBERS_A_PAGE), ...(after !== null && { after }) },
      });
      if (!answer.ok) throw this.refusal(answer, `the account ${wabaId}`);
      seen.push(...ownList(answer.body, 'data').flatMap((number) => ownText(number, 'id') ?? []));
      if (seen.includes(phoneNumberId)) return;
      const paging = ownObject(answer.body, 'paging');
      after = ownText(ownObject(paging, 'cursors'), 'after');
      if (after === null || ownText(paging, 'next') === null) break;
    }
    const numbers = seen.length === 0 ? 'it has none' : `it has ${seen.slice(0, 5).join(', ')}`;
    throw refused(
      `the account ${wabaId} has no number ${phoneNumberId} (${numbers}); compare both ids with the API setup page of your Meta app`,
    );
  }

  private refusal(failure: PlatformFailure, what: string): AppError {
    const error = refused(reasonOf(failure, platformUrl(this.config.whatsapp), what));
    return failure.kind === 'rejected' ? error : error.withKind('platform_unavailable');
  }
}

function refused(reason: string): AppError {
  return connectionsErrors.NUMBER_REFUSED({ reason });
}

/** Codes that mean that the token's user lacks the right or the asset. */
const NO_PERMISSION: ReadonlySet<number> = new Set([3, 10, 200, 131005]);

/** One sentence: what WhatsApp refused, why, and what to do. */
function reasonOf(failure: PlatformFailure, address: string, what: string): string {
  const { code, kind, message } = failure;
  if (kind !== 'rejected')
    return `the platform could not be asked about ${what} at ${address} (${message}); try again, or look at WHATSAPP_API_URL`;
  if (isTokenRefused(failure)) {
    return `the platform refuses the token (${message}); make a new one for a system user of your Meta business`;
  }
  if (code !== null && NO_PERMISSION.has(code)) {
    return `the token may not use ${what} (${message}); give its system user the account with whatsapp_business_messaging and whatsapp_business_management`;
  }
  return `the platform does not know ${what}, or the token can't see it (${message}); compare the id with the API setup page of your Meta app`;
}
