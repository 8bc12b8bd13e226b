import type { TemplateComponent } from './template.types.js';
import type { TemplateStore } from './template-store.js';

/** Approved from the start, so that a first template message needs no review. */
const SEEDS: readonly { name: string; components: TemplateComponent[] }[] = [
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
];

/** Gives an account the sample templates that it does not have yet. */
export function seedTemplates(store: TemplateStore, newId: () => string, wabaId: string, nowMs: number): void {
  for (const { name, components } of SEEDS) {
    if (store.find(wabaId, name, 'en_US') !== undefined) continue;
    store.put({
      id: newId(),
      wabaId,
      name,
      language: 'en_US',
      category: 'UTILITY',
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
