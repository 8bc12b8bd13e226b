import { databaseClock } from '../../common/clock.js';
import { Deadline } from '../../common/deadline.js';
import { storableText } from '../../common/json.js';
import { KeyedSlots } from '../../common/keyed-slots.js';
import type { OnApplicationShutdown } from '@nestjs/common';
import { own, ownObject, ownText } from './json-access.js';
import { apiRootOf } from './connect-options.js';
import { presentable, type Endpoint } from './graph-error.js';
import { HttpExchanger, type Exchange, type HttpExchangerOptions } from './http-exchanger.js';
import { classifyExchange, isSendableToken, TOKEN_MESSAGE, UNSENDABLE_TOKEN, type SendOutcome } from './outcome.js';
import { failure, toPlatformResult, type PlatformResult } from './platform-result.js';

export interface CloudApiClientOptions extends Partial<Omit<HttpExchangerOptions, 'origin'>> {
  /** `https://graph.facebook.com`, or the simulator's address; a path before the version is kept. */
  readonly baseUrl: string;
  /** `v26.0`. */
  readonly apiVersion: string;
  /** Limit for the answer to a send; 64 KiB by default. */
  readonly maxResponseBytes?: number;
}

const DEFAULTS = { connectTimeoutMs: 3_000, headersTimeoutMs: 15_000, bodyTimeoutMs: 5_000, connections: 256 };

export interface SendMessageInput {
  readonly phoneNumberId: string;
  /** `messages` by default. */
  readonly endpoint?: Endpoint;
  readonly token: string;
  /** What `buildMessageBody` made. */
  readonly body: Record<string, unknown>;
  /** Nothing may be written after this time. */
  readonly notAfter: Deadline;
}

export interface PlatformRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  /** The path after the version, with each id encoded by the caller: `/106540352242922/whatsapp_business_profile`. */
  readonly path: string;
  readonly token: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly json?: unknown;
}

/** A page of a hundred templates has some hundred KiB. */
const MAX_MANAGEMENT_RESPONSE_BYTES = 8 * 1024 * 1024;

/** How long a management call may wait for its turn and for a socket. */
const MANAGEMENT_WAIT_MS = 5_000;

/**
 * Sockets for management calls, separate from those for sends, so that slow answers delay no message. Each number or
 * account may use a few, so that others stay usable.
 */
const MANAGEMENT_CONNECTIONS = 32;
const MANAGEMENT_OF_ONE = 4;
const MAX_WAITING_OF_ONE = 100;

/**
 * The WhatsApp Cloud API over HTTP. A failure of the network or of WhatsApp is never thrown: a send always has an
 * outcome, any other call a result. None of them contains the access token.
 */
export class CloudApiClient implements OnApplicationShutdown {
  private readonly http: HttpExchanger;
  private readonly management: HttpExchanger;
  private readonly turns = new KeyedSlots({
    slots: MANAGEMENT_OF_ONE,
    mostWaiting: MAX_WAITING_OF_ONE,
    waitMs: MANAGEMENT_WAIT_MS,
  });
  private readonly root: string;
  private readonly maxResponseBytes: number;

  /** @throws Error when the address or the version can't be used. */
  constructor(options: CloudApiClientOptions) {
    const { origin, path } = apiRootOf(options.baseUrl, options.apiVersion);
    this.root = path;
    this.maxResponseBytes = options.maxResponseBytes ?? 64 * 1024;
    const settings = { ...DEFAULTS, ...options, origin };
    this.http = new HttpExchanger(settings);
    const connections = Math.min(settings.connections, MANAGEMENT_CONNECTIONS);
    this.management = new HttpExchanger({ ...settings, connections });
  }

  /** Calls in flight, including those that wait for a socket. */
  get inFlight(): number {
    return this.http.inFlight + this.management.inFlight;
  }

  /**
   * Sends one message, once. The outcome says whether it was accepted, certainly not accepted, or may have been
   * accepted.
   *
   * @throws TypeError when the body is not JSON (a BigInt, a cycle); nothing is sent then
   */
  sendMessage({ phoneNumberId, endpoint = 'messages', token, body, notAfter }: SendMessageInput): Promise<SendOutcome> {
    if (!isSendableToken(token)) return Promise.resolve(UNSENDABLE_TOKEN);
    const exchange = this.http.exchange({
      method: 'POST',
      path: `${this.root}/${encodeURIComponent(phoneNumberId)}/${endpoint}`,
      headers: headersOf(token, true),
      body: Buffer.from(JSON.stringify(body)),
      notAfter,
      maxBytes: this.maxResponseBytes,
    });
    return exchange.then((went) => {
      const outcome = classifyExchange(went, databaseClock.now());
      if (outcome.kind === 'accepted' || outcome.platformMessage === null) return outcome;
      return { ...outcome, platformMessage: presentable(outcome.platformMessage, token) };
    });
  }

  /** Calls any other endpoint. A GET whose connection closed before an answer is repeated once; nothing else is. */
  async request(request: PlatformRequest): Promise<PlatformResult> {
    if (!isSendableToken(request.token)) {
      return failure('rejected', { message: TOKEN_MESSAGE });
    }
    // The number, account or message template at the beginning of the path.
    const key = request.path.split(/[/?]/, 2)[1] ?? '';
    if (!(await this.turns.enter(key))) {
      return failure('unavailable', { message: 'Too many calls of this number or account are under way.' });
    }
    try {
      return await this.call(request);
    } finally {
      this.turns.leave(key);
    }
  }

  private async call({ method, path, token, query, json }: PlatformRequest): Promise<PlatformResult> {
    const search = query === undefined ? '' : `?${new URLSearchParams(query).toString()}`;
    const body = json === undefined ? null : Buffer.from(JSON.stringify(json));
    const attempt = (): Promise<Exchange> =>
      this.management.exchange({
        method,
        path: `${this.root}${path}${search}`,
        headers: headersOf(token, body !== null),
        body,
        notAfter: Deadline.in(MANAGEMENT_WAIT_MS),
        maxBytes: MAX_MANAGEMENT_RESPONSE_BYTES,
      });
    let exchange = await attempt();
    if (method === 'GET' && exchange.kind === 'broken' && exchange.written && !exchange.timedOut) {
      exchange = await attempt();
    }
    return toPlatformResult(exchange, token);
  }

  /** Marks a customer's message as read, and shows that the business is typing if requested. Tries once. */
  markAsRead(
    { phoneNumberId, token }: Pick<SendMessageInput, 'phoneNumberId' | 'token'>,
    messageId: string,
    typing: boolean,
  ): Promise<PlatformResult> {
    return this.request({
      method: 'POST',
      path: `/${encodeURIComponent(phoneNumberId)}/messages`,
      token,
      json: {
        messaging_product: 'whatsapp',
        status: 'read',
        message_id: messageId,
        ...(typing && { typing_indicator: { type: 'text' } }),
      },
    });
  }

  async getPhoneNumber(phoneNumberId: string, token: string): Promise<PlatformResult<PlatformPhoneNumber>> {
    const result = await this.request({
      method: 'GET',
      path: `/${encodeURIComponent(phoneNumberId)}`,
      token,
      query: { fields: PHONE_NUMBER_FIELDS },
    });
    if (!result.ok) return result;
    const body = readPhoneNumber(result.body);
    return body === null
      ? failure('unavailable', { status: result.status, message: 'The platform answered something that is no number.' })
      : { ...result, body };
  }

  /** Whether an account may use the endpoint for marketing messages, in WhatsApp's words; null where it did not say. */
  async getMarketingStatus(wabaId: string, token: string): Promise<string | null> {
    const field = 'marketing_messages_onboarding_status';
    const path = `/${encodeURIComponent(wabaId)}`;
    const result = await this.request({ method: 'GET', path, token, query: { fields: field } });
    const status = result.ok ? ownText(result.body, field) : null;
    return status !== null && /^[A-Z_]{1,100}$/.test(status) ? status : null;
  }

  /** Aborts unwritten requests (`deferred`), lets requests in flight end, and closes every socket. */
  async close(): Promise<void> {
    await Promise.all([this.http.close(), this.management.close()]);
  }

  /** Runs after everything that sends has stopped. */
  onApplicationShutdown(): Promise<void> {
    return this.close();
  }
}

function headersOf(token: string, hasJson: boolean): string[] {
  const headers = ['authorization', `Bearer ${token}`, 'accept', 'application/json', 'user-agent', 'Herald'];
  if (hasJson) headers.push('content-type', 'application/json');
  return headers;
}

const FIELDS = {
  /** As displayed, with spaces and signs. */
  displayPhoneNumber: 'display_phone_number',
  verifiedName: 'verified_name',
  /** `GREEN`, `YELLOW`, `RED`, `UNKNOWN`. */
  qualityRating: 'quality_rating',
  /** `CONNECTED`, `PENDING`, `DISCONNECTED`, `FLAGGED`, `RESTRICTED`, `BANNED` and others. */
  status: 'status',
  /** `TIER_250` to `TIER_UNLIMITED`: people reached outside a service window in 24 hours. */
  messagingLimit: 'whatsapp_business_manager_messaging_limit',
  /** `CLOUD_API` for a number that can send through it. */
  platformType: 'platform_type',
} as const;

/** A business phone number as WhatsApp describes it; null for absent fields. */
export interface PlatformPhoneNumber extends Readonly<Record<keyof typeof FIELDS, string | null>> {
  readonly id: string;
  /** `STANDARD` (80 messages a second) or `HIGH` (1,000). */
  readonly throughputLevel: string | null;
  /** Whether the number is also used in the WhatsApp Business app. */
  readonly isOnBizApp: boolean;
}

/** For the `fields` parameter: WhatsApp returns only requested fields. */
export const PHONE_NUMBER_FIELDS = ['id', ...Object.values(FIELDS), 'throughput', 'is_on_biz_app'].join(',');

/** Reads one phone number; null when it has no id. */
export function readPhoneNumber(body: unknown): PlatformPhoneNumber | null {
  const id = ownText(body, 'id');
  if (id === null || id === '') return null;
  const texts = Object.entries(FIELDS).map(([name, field]) => {
    const found = ownText(body, field);
    return [name, found === null ? null : storableText(found)];
  });
  return {
    id: storableText(id),
    ...(Object.fromEntries(texts) as Record<keyof typeof FIELDS, string | null>),
    throughputLevel: ownText(ownObject(body, 'throughput'), 'level'),
    isOnBizApp: own(body, 'is_on_biz_app') === true,
  };
}
