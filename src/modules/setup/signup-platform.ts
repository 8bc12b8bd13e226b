import { Injectable } from '@nestjs/common';
import { Config } from '../../infrastructure/config/config.js';
import { CloudApiClient, type PlatformPhoneNumber } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { ownId, ownList, ownObject, ownText } from '../../infrastructure/whatsapp/json-access.js';
import { failure, type PlatformResult } from '../../infrastructure/whatsapp/platform-result.js';
import { ownApp } from '../../infrastructure/whatsapp/signup-dialog.js';

const NUMBERS = 100;

/** Calls to WhatsApp while a business connects its number. Each has the timeouts of `CloudApiClient`. */
@Injectable()
export class SignupPlatform {
  constructor(
    private readonly client: CloudApiClient,
    private readonly config: Config,
  ) {}

  /** Exchanges the dialog's code for a token of the account: once, and within seconds. */
  async exchange(code: string): Promise<PlatformResult<string>> {
    const app = ownApp(this.config);
    if (app === null) return failure('rejected', { code: 101, message: 'META_APP_ID is not set.' });
    const { appId, appSecret } = app;
    const answer = await this.client.request({
      method: 'POST',
      path: '/oauth/access_token',
      // The app's own token goes into a header, so that no secret is in the address.
      token: `${appId}|${appSecret}`,
      json: { client_id: appId, client_secret: appSecret, grant_type: 'authorization_code', code },
    });
    return textOf(answer, 'access_token');
  }

  /** Id of the app that a token was made for; null where this service does not know its own app, so it can't ask. */
  async appOf(token: string): Promise<PlatformResult<string> | null> {
    const app = ownApp(this.config);
    if (app === null) return null;
    const answer = await this.client.request({
      method: 'GET',
      path: '/debug_token',
      token: `${app.appId}|${app.appSecret}`,
      query: { input_token: token },
    });
    return answer.ok ? textOf({ ...answer, body: ownObject(answer.body, 'data') }, 'app_id') : answer;
  }

  account(wabaId: string, token: string): Promise<PlatformResult> {
    const path = `/${encodeURIComponent(wabaId)}`;
    return this.client.request({ method: 'GET', path, token, query: { fields: 'id,name' } });
  }

  /** Ids of an account's numbers, at most a hundred. */
  async numbersOf(wabaId: string, token: string): Promise<PlatformResult<string[]>> {
    const path = `/${encodeURIComponent(wabaId)}/phone_numbers`;
    const query = { fields: 'id', limit: String(NUMBERS) };
    const answer = await this.client.request({ method: 'GET', path, token, query });
    if (!answer.ok) return answer;
    return { ...answer, body: ownList(answer.body, 'data').flatMap((number) => ownId(number, 'id') ?? []) };
  }

  number(phoneNumberId: string, token: string): Promise<PlatformResult<PlatformPhoneNumber>> {
    return this.client.getPhoneNumber(phoneNumberId, token);
  }

  register(phoneNumberId: string, token: string, pin: string): Promise<PlatformResult> {
    const path = `/${encodeURIComponent(phoneNumberId)}/register`;
    return this.client.request({ method: 'POST', path, token, json: { messaging_product: 'whatsapp', pin } });
  }

  subscribe(wabaId: string, token: string): Promise<PlatformResult> {
    const path = `/${encodeURIComponent(wabaId)}/subscribed_apps`;
    return this.client.request({ method: 'POST', path, token });
  }
}

function textOf(answer: PlatformResult, name: string): PlatformResult<string> {
  if (!answer.ok) return answer;
  const text = ownText(answer.body, name);
  if (text !== null && text !== '') return { ...answer, body: text };
  return failure('unavailable', { status: answer.status, message: `The platform answered without ${name}.` });
}
