import type { TemplateForm } from '../templates.types.js';
import { bodyTextOf, footerTextOf } from './authentication-text.js';
import { componentOf, ownText, ownWord } from './json-reading.js';
import { fillIn } from './template-text.js';

/** A template as its reader sees it. */
export interface Preview {
  header: { format: string; text: string | null } | null;
  body: string | null;
  footer: string | null;
  buttons: { type: string; text: string; url?: string; phone_number?: string; code?: string }[];
  /** Variables that no parameter fills, like `body.{{2}}`. Their places stay in the texts. */
  missing: string[];
  /** Parameters that no variable takes, like `body[2]`. */
  unused: string[];
}

export interface PreviewParameters {
  readonly header?: readonly string[];
  readonly body?: readonly string[];
}

/** Renders a template with these parameters. Never throws, whatever the components hold. */
export function previewTemplate(template: TemplateForm, parameters: PreviewParameters): Preview {
  const header = componentOf(template.components, 'HEADER');
  const body = bodyTextOf(template);
  return {
    header: header === undefined ? null : { format: ownWord(header, 'format'), text: ownText(header, 'text') },
    body: body === null ? null : fillIn(body, (name) => parameters.body?.[Number(name) - 1]),
    footer: footerTextOf(componentOf(template.components, 'FOOTER')),
    buttons: [],
    missing: [],
    unused: [],
  };
}
