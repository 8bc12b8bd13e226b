import { Shape } from '../http/fields.js';
import { isObject } from '../http/param.js';
import { accountHealth, healthOf } from '../numbers/numbers.js';
import type { Template, TemplateComponent } from './template-store.js';

/** Templates, with every field that can be asked for. */
export const TEMPLATES = new Shape<Template>(
  'WhatsAppMessageTemplate',
  {
    id: (template) => template.id,
    name: (template) => template.name,
    language: (template) => template.language,
    status: (template) => template.status,
    category: (template) => template.category,
    sub_category: () => undefined,
    previous_category: (template) => template.previousCategory,
    correct_category: (template) => template.correctCategory,
    parameter_format: (template) => template.parameterFormat,
    components: (template) => template.components.map((component) => shown(template, component)),
    rejected_reason: (template) => template.rejectedReason,
    quality_score: (template) => ({ score: template.qualityScore, date: Math.floor(template.updatedAt / 1000) }),
    message_send_ttl_seconds: (template) => template.messageSendTtlSeconds,
    library_template_name: (template) => template.libraryTemplateName,
    cta_url_link_tracking_opted_out: () => false,
    health_status: ({ id, wabaId, status }) =>
      healthOf([['MESSAGE_TEMPLATE', id, status === 'APPROVED' ? 'AVAILABLE' : 'BLOCKED'], ...accountHealth(wabaId)]),
    source: () => 'DEVELOPER',
    display_format: () => undefined,
    is_primary_device_delivery_only: () => false,
    is_sms_fallback_enabled: () => false,
    // What only templates of an advertisement have.
    ad_account_id: () => undefined,
    ad_adset_id: () => undefined,
    ad_campaign_id: () => undefined,
    ad_id: () => undefined,
    bid_spec: () => undefined,
    creative_sourcing_spec: () => undefined,
    degrees_of_freedom_spec: () => undefined,
    last_updated_time: (template) => new Date(template.updatedAt).toISOString(),
  },
  ['name', 'parameter_format', 'components', 'language', 'status', 'category', 'id'],
);

/** The handle of a media header is never shown again; an address of the file is in its place. */
function shown(template: Template, component: TemplateComponent): TemplateComponent {
  if (component.type === 'CAROUSEL' && Array.isArray(component.cards)) {
    const cards = (component.cards as { components: TemplateComponent[] }[]).map((card) => ({
      ...card,
      components: card.components.map((part) => shown(template, part)),
    }));
    return { ...component, cards };
  }
  if (!isObject(component.example) || component.example.header_handle === undefined) return component;
  const extension = { IMAGE: 'jpg', VIDEO: 'mp4', GIF: 'mp4' }[component.format ?? ''] ?? 'pdf';
  const address = `https://scontent.whatsapp.net/v/t61.29466-34/${template.id}_n.${extension}?ccb=1-7&oh=01_Q5&oe=6971C5A0`;
  return { ...component, example: { ...component.example, header_handle: [address] } };
}
