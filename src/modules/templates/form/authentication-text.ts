import type { TemplateForm } from '../templates.types.js';
import { componentOf, own, ownText, type JsonObject } from './json-reading.js';

/**
 * The body's text, null where there is none. Templates for codes have none of their own: WhatsApp writes a fixed
 * sentence in the template's language, of which this is the English one.
 */
export function bodyTextOf(template: TemplateForm): string | null {
  const body = componentOf(template.components, 'BODY');
  const text = ownText(body, 'text');
  if (text !== null || template.category !== 'AUTHENTICATION') return text;
  const advice = own(body, 'add_security_recommendation') === true;
  return `*{{1}}* is your verification code.${advice ? ' For your security, do not share this code.' : ''}`;
}

/** The footer's text; that of a template for codes says how long a code lives. Null where there is none. */
export function footerTextOf(footer: JsonObject | undefined): string | null {
  const text = ownText(footer, 'text');
  if (text !== null) return text;
  const minutes = own(footer, 'code_expiration_minutes');
  return typeof minutes === 'number' ? `This code expires in ${minutes} minutes.` : null;
}
