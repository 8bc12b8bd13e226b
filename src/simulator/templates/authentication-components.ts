import { invalidParam } from '../graph-error.js';
import { isObject } from '../http/param.js';
import { requireOneOf } from '../http/param.js';
import { checkLabel } from './button-checks.js';
import type { TemplateButton, TemplateComponent } from './template-store.js';
import { missingField, objectList, tooLong } from './template-text.js';

const OTP_TYPES = ['COPY_CODE', 'ONE_TAP', 'ZERO_TAP'];
const PACKAGE_LIMIT = 224;

/**
 * Checks the components of an authentication template, and writes the texts that the platform fixes. Read back, its
 * button is one of type URL.
 * @throws GraphError 100
 */
export function checkAuthenticationComponents(components: readonly TemplateComponent[]): TemplateComponent[] {
  if (!components.some(({ type }) => type === 'BUTTONS')) throw missingField('BUTTONS', 'buttons');
  return components.map((component) => {
    if (component.type === 'BODY') return bodyOf(component);
    if (component.type === 'FOOTER') return footerOf(component);
    if (component.type === 'BUTTONS') return buttonsOf(component);
    throw invalidParam(`Templates of the category AUTHENTICATION have no component of type ${component.type}.`);
  });
}

function bodyOf(body: TemplateComponent): TemplateComponent {
  if (body.text !== undefined) throw invalidParam('The body of an authentication template is fixed: it takes no text.');
  const warns = body.add_security_recommendation ?? false;
  if (typeof warns !== 'boolean') throw invalidParam('Param add_security_recommendation must be a boolean.');
  const warning = warns ? ' For your security, do not share this code.' : '';
  return {
    type: 'BODY',
    text: `*{{1}}* is your verification code.${warning}`,
    add_security_recommendation: warns,
    example: { body_text: [['123456']] },
  };
}

function footerOf(footer: TemplateComponent): TemplateComponent {
  const minutes = footer.code_expiration_minutes;
  if (minutes === undefined) throw missingField('FOOTER', 'code_expiration_minutes');
  if (typeof minutes !== 'number' || !Number.isInteger(minutes) || minutes < 1 || minutes > 90) {
    throw invalidParam('Param code_expiration_minutes must be a number between 1 and 90.');
  }
  return {
    type: 'FOOTER',
    text: `This code expires in ${minutes} minutes.`,
    code_expiration_minutes: minutes,
  };
}

function buttonsOf(component: TemplateComponent): TemplateComponent {
  const [button] = objectList(component.buttons, "components['BUTTONS']['buttons']", 1, 1) as TemplateButton[];
  if (button === undefined || button.type !== 'OTP') {
    throw invalidParam('An authentication template has one button, of type OTP.');
  }
  const given = typeof button.otp_type === 'string' ? button.otp_type.toUpperCase() : button.otp_type;
  const otpType = requireOneOf(given, OTP_TYPES, "components['BUTTONS']['buttons'][0]['otp_type']");
  if (button.text !== undefined && button.text !== '') checkLabel(button.text);
  if (otpType !== 'COPY_CODE') checkApps(button, otpType);
  const url = `https://www.whatsapp.com/otp/code/?otp_type=${otpType}&code=otp{{1}}`;
  return {
    type: 'BUTTONS',
    buttons: [{ type: 'URL', text: button.text ?? 'Copy code', url, example: [url.replace('{{1}}', '123456')] }],
  };
}

function checkApps(button: TemplateButton, otpType: string): void {
  // The two fields on the button itself are the older spelling.
  const apps = button.supported_apps ?? [{ package_name: button.package_name, signature_hash: button.signature_hash }];
  if (!Array.isArray(apps) || apps.length < 1 || apps.length > 5) {
    throw invalidParam('Param supported_apps must have one to five apps.');
  }
  for (const app of apps as unknown[]) {
    const { package_name: name, signature_hash: hash } = isObject(app) ? app : {};
    if (typeof name !== 'string' || name === '') throw missingField('BUTTONS', 'package_name');
    if (name.length > PACKAGE_LIMIT) throw tooLong('package_name', PACKAGE_LIMIT);
    if (typeof hash !== 'string' || hash.length !== 11)
      throw invalidParam('Param signature_hash must have 11 characters.');
  }
  if (otpType === 'ZERO_TAP' && button.zero_tap_terms_accepted !== true) {
    throw invalidParam('Param zero_tap_terms_accepted must be true for a ZERO_TAP button.');
  }
}
