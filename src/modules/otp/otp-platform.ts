import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { platformUrl } from '../../infrastructure/whatsapp/api-root.js';
import { CloudApiClient } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { buildMessageBody } from '../../infrastructure/whatsapp/message-body.js';
import type { SendOutcome } from '../../infrastructure/whatsapp/outcome.js';
import type { OtpSenderWithToken } from './otp-sender.service.js';

export interface CodeMessage {
  /** Digits without `+`. */
  to: string;
  code: string;
  /** Language of the template. */
  language: string;
  /** Comes back with every status. */
  attemptId: string;
}

const SOCKETS = 64;

/** Sends codes over sockets of their own: a campaign that has taken all the others delays none. */
@Injectable()
export class OtpPlatform implements OnApplicationShutdown {
  private readonly client: CloudApiClient;

  constructor({ whatsapp }: Config) {
    this.client = new CloudApiClient({
      baseUrl: platformUrl(whatsapp),
      apiVersion: whatsapp.apiVersion,
      headersTimeoutMs: whatsapp.timeoutMs,
      connections: SOCKETS,
    });
  }

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }

  /** Sends one code, once. @param notAfter by `performance.now()`: after it nothing may be written. */
  send(sender: OtpSenderWithToken, message: CodeMessage, notAfter: number): Promise<SendOutcome> {
    const { phoneNumberId, token, templateName } = sender;
    const { to, code, language, attemptId } = message;
    const parameters = [{ type: 'text', text: code }];
    const content = {
      name: templateName,
      language: { code: language },
      // An authentication template takes the code twice: in its text and for its button.
      components: [
        { type: 'body', parameters },
        { type: 'button', sub_type: 'url', index: '0', parameters },
      ],
    };
    const body = buildMessageBody({ to, type: 'template', content, callbackData: attemptId });
    return this.client.sendMessage({ phoneNumberId, token, body, notAfter });
  }
}
