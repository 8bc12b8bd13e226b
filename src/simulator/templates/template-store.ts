import type { Collection } from '../state/state-store.js';
import type { Template } from './template.types.js';

/** Templates of all accounts, by id and by (account, name, language). */
export class TemplateStore {
  private readonly byName = new Map<string, Template>();

  constructor(private readonly saved: Collection<Template>) {
    for (const template of saved.values()) this.byName.set(keyOf(template), template);
  }

  get(id: string): Template | undefined {
    return this.saved.get(id);
  }

  all(): Template[] {
    return this.saved.values();
  }

  find(wabaId: string, name: string, language: string): Template | undefined {
    return this.byName.get(keyOf({ wabaId, name, language }));
  }

  /** Oldest first. */
  ofAccount(wabaId: string): Template[] {
    return this.saved
      .values()
      .filter((template) => template.wabaId === wabaId)
      .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  /** Stores a template, new or changed. */
  put(template: Template): void {
    this.saved.set(template.id, template);
    this.byName.set(keyOf(template), template);
  }

  remove(id: string): boolean {
    const template = this.saved.get(id);
    if (template !== undefined && this.byName.get(keyOf(template))?.id === id) this.byName.delete(keyOf(template));
    return this.saved.delete(id);
  }
}

function keyOf(template: Pick<Template, 'wabaId' | 'name' | 'language'>): string {
  return `${template.wabaId} ${template.language} ${template.name}`;
}
