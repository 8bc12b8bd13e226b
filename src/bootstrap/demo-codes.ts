import type { INestApplicationContext } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { OtpPackagesService } from '../modules/billing/otp-packages.service.js';
import { OtpProjectsService } from '../modules/otp/otp-projects.service.js';
import { OtpSenderService } from '../modules/otp/otp-sender.service.js';
import type { OtpMode, OtpProject } from '../modules/otp/otp.types.js';
import { ApiKeysService } from '../infrastructure/access/api-keys.service.js';
import { isOtpScope, SCOPES } from '../infrastructure/access/scopes.js';
import { DEMO_OTP_NUMBER, DEMO_OTP_TEMPLATE } from '../simulator/demo-numbers.js';
import { readDemoKey } from './demo-file.js';

const NAMES: Readonly<Record<OtpMode, string>> = { sandbox: 'Demo sandbox', live: 'Demo live' };
const COUNTRIES = ['DE', 'US'];
const CODES_A_MONTH = 10_000;

/** What the demo workspace has for one-time codes: a sandbox, a live project with packages, and the number they need. */
export class DemoCodes {
  private readonly projects: OtpProjectsService;
  private readonly packages: OtpPackagesService;
  private readonly sender: OtpSenderService;
  private readonly keys: ApiKeysService;

  constructor(
    app: INestApplicationContext,
    private readonly dataDir: string,
  ) {
    this.projects = app.get(OtpProjectsService, { strict: false });
    this.packages = app.get(OtpPackagesService, { strict: false });
    this.sender = app.get(OtpSenderService, { strict: false });
    this.keys = app.get(ApiKeysService);
  }

  async prepare(organizationId: string): Promise<{ sandboxKey: string; liveKey: string }> {
    await this.prepareSender();
    const [sandbox, live] = [await this.project(organizationId, 'sandbox'), await this.project(organizationId, 'live')];
    const granted = await this.packages.allowances(organizationId, live.id);
    for (const country of COUNTRIES) {
      if (granted.some((allowance) => allowance.country === country)) continue;
      await this.packages.grant(organizationId, live.id, country, CODES_A_MONTH);
    }
    return { sandboxKey: await this.keyOf(sandbox), liveKey: await this.keyOf(live) };
  }

  /** A number that somebody has set stays. */
  private async prepareSender(): Promise<void> {
    if ((await this.sender.find()) !== null) return;
    await this.sender.set({
      phoneNumberId: DEMO_OTP_NUMBER.phoneNumberId,
      phoneNumber: DEMO_OTP_NUMBER.displayPhoneNumber.replaceAll(/\D/g, ''),
      templateName: DEMO_OTP_TEMPLATE,
      // The simulator takes any token; a real one never stands in a demo.
      token: `demo-${randomBytes(16).toString('hex')}`,
    });
  }

  private async project(organizationId: string, mode: OtpMode): Promise<OtpProject> {
    const known = (await this.projects.list(organizationId)).find(({ name }) => name === NAMES[mode]);
    return known ?? this.projects.create({ organizationId, name: NAMES[mode], mode });
  }

  /** The key of an earlier start where it still opens this project; else a new one, and the old ones end. */
  private async keyOf(project: OtpProject): Promise<string> {
    const text = readDemoKey(this.dataDir, project.mode === 'sandbox' ? 'otp_sandbox_key' : 'otp_live_key');
    if (text !== null && (await this.opens(text, project))) return text;
    for (const key of await this.keys.list(project.organizationId)) {
      if (key.otpProjectId === project.id && key.revokedAt === null) await this.keys.revoke(key.id);
    }
    const { organizationId } = project;
    const scopes = SCOPES.filter(isOtpScope);
    return (await this.keys.create({ organizationId, name: `${project.name} key`, scopes, otpProject: project })).key;
  }

  private async opens(text: string, project: OtpProject): Promise<boolean> {
    try {
      return (await this.keys.authenticate(text)).otpProject?.id === project.id;
    } catch {
      return false;
    }
  }
}
