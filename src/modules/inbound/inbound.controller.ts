import { Controller, Get, Headers, HttpCode, Post, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { isSameText } from '../../common/same-text.js';
import { ratesErrors } from '../../infrastructure/rates/rates.errors.js';
import { Public } from '../../infrastructure/http/route-policy.js';
import { Config } from '../../infrastructure/config/config.js';
import { BodyAs } from '../../infrastructure/http/body.guard.js';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import { Counters } from '../../infrastructure/operations/counters.js';
import { verifySignature } from '../../infrastructure/whatsapp/webhook-signature.js';
import { BodyReserve, isSmall } from './body-reserve.js';
import { NotificationSenders, type Sender } from './notification-senders.js';
import { notificationsErrors } from './inbound.errors.js';
import { InboundService } from './inbound.service.js';

/** What the WhatsApp platform calls; its address is entered in the Meta app's webhook settings. */
@Controller('platform/whatsapp/webhook')
@Public()
@ApiExcludeController()
export class InboundController {
  private readonly bodies = new BodyReserve();
  private readonly senders: NotificationSenders;

  constructor(
    private readonly notifications: InboundService,
    private readonly counters: Counters,
    private readonly config: Config,
  ) {
    this.senders = new NotificationSenders(config.security.authFailuresPerMinute);
  }

  /**
   * Proves to the platform that this address is meant: the challenge is answered as it came.
   *
   * @throws {403} WEBHOOK_HANDSHAKE_REFUSED when the verify token is another one; {429} RATE_LIMITED when its address did
   * so too often in the last minute. The right token is always answered.
   */
  @Get()
  handshake(
    @Req() req: HeraldRequest,
    @Query() query: Record<string, unknown>,
    @Res({ passthrough: true }) response: Response,
  ): string {
    const challenge = query['hub.challenge'];
    const isMeant =
      query['hub.mode'] === 'subscribe' && isSecret(query['hub.verify_token'], this.config.whatsapp.verifyToken);
    if (!isMeant || typeof challenge !== 'string') {
      this.counters.increment('notifications_refused');
      const seconds = this.senders.fail(this.senders.of(req.ip ?? ''));
      if (seconds !== null) throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: seconds });
      throw notificationsErrors.WEBHOOK_HANDSHAKE_REFUSED();
    }
    // Only for the challenge: a refusal is JSON.
    response.type('text/plain');
    return challenge;
  }

  /**
   * Takes a notification. 200 once it is stored, and applied where that was possible.
   *
   * @throws {401} NOTIFICATION_SIGNATURE_INVALID when the body was not signed with our app secret; {429} RATE_LIMITED
   * when its address did so too often in the last minute.
   */
  @Post()
  @HttpCode(200)
  @BodyAs({ stream: true })
  async take(@Req() req: HeraldRequest, @Headers('x-hub-signature-256') signature: string | undefined): Promise<void> {
    const sender = this.senders.of(req.ip ?? '');
    // Nothing is read from clients that do not claim to be WhatsApp.
    if (signature === undefined) this.refuse(sender);
    const seconds = this.senders.blockedFor(sender);
    // A short body is read anyway: a valid signature always counts, even if other clients use the same address.
    if (seconds !== null && !isSmall(req)) throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: seconds });
    await this.bodies.read(req, sender, async (body) => {
      if (!verifySignature(body, signature, this.config.whatsapp.appSecrets)) this.refuse(sender);
      this.senders.prove(sender);
      await this.notifications.take(body);
    });
  }

  private refuse(sender: Sender): never {
    this.counters.increment('notifications_refused');
    const seconds = this.senders.fail(sender);
    if (seconds !== null) throw ratesErrors.RATE_LIMITED({ retryAfterSeconds: seconds });
    throw notificationsErrors.NOTIFICATION_SIGNATURE_INVALID();
  }
}

/** An empty secret matches nothing. */
function isSecret(given: unknown, secret: string): boolean {
  return typeof given === 'string' && secret !== '' && isSameText(given, secret);
}
