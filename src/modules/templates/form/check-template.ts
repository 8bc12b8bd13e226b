import type { ErrorDetail } from '../../../common/app-error.js';
import type { TemplateForm } from '../templates.types.js';

/** What is wrong, and where: `field` like `components[1].buttons[0].url`. */
export type Fault = ErrorDetail;

/** A template that is about to be given to the platform. */
export interface TemplateDraft extends TemplateForm {
  readonly name: string;
  readonly language: string;
}

/**
 * What the platform surely refuses for its form, each fault naming its field; empty where nothing is known to be
 * wrong. Whatever the platform's documents leave open is left to the platform. Never throws, whatever the shape.
 */
export function checkTemplate(draft: TemplateDraft): Fault[] {
  const faults: Fault[] = [];
  if (!/^[a-z0-9_]{1,512}$/.test(draft.name)) {
    faults.push({
      field: 'name',
      rule: 'format',
      message: 'name must be 1 to 512 small letters, digits and underscores.',
    });
  }
  return faults;
}
