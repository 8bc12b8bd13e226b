import { DEMO_OTP_NUMBER, DEMO_OTP_TEMPLATE } from '../demo-numbers.js';
import { checkAuthenticationComponents } from './component-checks.js';
import type { Template, TemplateComponent, TemplateStore } from './template-store.js';

interface Seed {
  name: string;
  components: TemplateComponent[];
  /** Default: UTILITY. */
  category?: Template['category'];
  /** Only on this account. */
  wabaId?: string;
}

/** Approved from the start, so that a first template message needs no review. */
const SEEDS: readonly Seed[] = [
  {
    name: 'hello_world',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Hello World' },
      { type: 'BODY', text: 'Welcome! Your number can now receive messages from this business.' },
      { type: 'FOOTER', text: 'Sample message' },
    ],
  },
  {
    name: 'order_update',
    components: [
      {
        type: 'BODY',
        text: 'Hello {{1}}, your order {{2}} is on its way.',
        example: { body_text: [['Ana', '4711']] },
      },
      { type: 'FOOTER', text: 'Lucky Shrub' },
    ],
  },
  {
    name: DEMO_OTP_TEMPLATE,
    category: 'AUTHENTICATION',
    wabaId: DEMO_OTP_NUMBER.wabaId,
    components: checkAuthenticationComponents([
      { type: 'BODY', add_security_recommendation: true },
      { type: 'FOOTER', code_expiration_minutes: 5 },
      { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
    ]),
  },
];

/** Adds the missing sample templates to an account. */
export function seedTemplates(store: TemplateStore, newId: () => string, wabaId: string, nowMs: number): void {
  for (const { name, components, category = 'UTILITY', wabaId: only = wabaId } of SEEDS) {
    if (only !== wabaId || store.find(wabaId, name, 'en_US') !== undefined) continue;
    store.put({
      id: newId(),
      wabaId,
      name,
      language: 'en_US',
      category,
      status: 'APPROVED',
      parameterFormat: 'POSITIONAL',
      components,
      rejectedReason: 'NONE',
      qualityScore: 'UNKNOWN',
      createdAt: nowMs,
      updatedAt: nowMs,
    });
  }
}
