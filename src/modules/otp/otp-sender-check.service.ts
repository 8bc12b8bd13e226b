import { Injectable } from '@nestjs/common';
import { CloudApiClient } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { ownList, ownText } from '../../infrastructure/whatsapp/json-access.js';
import { ConnectionCheckService, type CheckedNumber } from '../connections/connection-check.service.js';

export interface SenderCredentials {
  phoneNumberId: string;
  wabaId: string;
  token: string;
  templateName: string;
}

/** Finds out with the platform whether a number can send codes, and says what is wrong where it can't. */
@Injectable()
export class OtpSenderCheckService {
  constructor(
    private readonly numbers: ConnectionCheckService,
    private readonly client: CloudApiClient,
  ) {}

  /**
   * Checks token, number, account and template, and subscribes to the account's notifications.
   *
   * @returns the number, and the languages in which the template is approved.
   * @throws Error with one sentence that says what is wrong and what to do.
   */
  async check(credentials: SenderCredentials): Promise<{ number: CheckedNumber; languages: string[] }> {
    const number = await this.numbers.check(credentials);
    const languages = await this.approvedLanguages(credentials);
    await this.numbers.subscribe(credentials);
    return { number, languages };
  }

  private async approvedLanguages({ wabaId, token, templateName }: SenderCredentials): Promise<string[]> {
    const answer = await this.client.request({
      method: 'GET',
      path: `/${encodeURIComponent(wabaId)}/message_templates`,
      token,
      query: { name: templateName, fields: 'name,language,status,category', limit: '100' },
    });
    if (!answer.ok) throw new Error(`the platform did not list the templates of the account (${answer.message})`);
    // The platform's filter finds every name that contains this one.
    const versions = ownList(answer.body, 'data').filter((template) => ownText(template, 'name') === templateName);
    if (versions.length === 0) {
      throw new Error(
        `the account ${wabaId} has no template ${templateName}; make it with the category AUTHENTICATION`,
      );
    }
    if (versions.some((template) => ownText(template, 'category') !== 'AUTHENTICATION')) {
      throw new Error(`the template ${templateName} is not of the category AUTHENTICATION; codes need one that is`);
    }
    const approved = versions.filter((template) => ownText(template, 'status') === 'APPROVED');
    if (approved.length === 0) throw new Error(`the template ${templateName} is not approved yet; wait for its review`);
    return approved.flatMap((template) => ownText(template, 'language') ?? []);
  }
}
