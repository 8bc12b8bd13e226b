import { commonErrors } from '../../../common/common.errors.js';
import { isObject } from '../../../common/json.js';
import { violation } from '../../../common/shape.js';

type Content = Readonly<Record<string, unknown>>;

/**
 * A template message's content whose header shows `mediaObjectId`: added where the caller gave no header, filled in
 * where its file has neither id nor link, and left as it is where it names the same file.
 *
 * @param type what the template's header shows.
 * @throws VALIDATION_FAILED (422) where the header names another file.
 */
export function withHeaderFile(
  content: Content,
  type: 'image' | 'video' | 'document',
  mediaObjectId: string,
): Record<string, unknown> {
  const components: unknown[] = Array.isArray(content.components) ? content.components : [];
  const shown = { type, [type]: { id: mediaObjectId } };
  const index = components.findIndex(isHeader);
  const header = components[index];
  if (!isObject(header)) return { ...content, components: [{ type: 'header', parameters: [shown] }, ...components] };
  const parameters: unknown[] = Array.isArray(header.parameters) ? header.parameters : [];
  const [parameter] = parameters;
  const file = isObject(parameter) ? parameter[type] : undefined;
  if (isObject(parameter) && isObject(file)) {
    if (sameFile(file.id, mediaObjectId)) return { ...content };
    if (file.id !== undefined || file.link !== undefined) throw anotherFile(index, type);
  } else if (parameters.length > 0) {
    // Not a file of this kind: the template's own check reports the violation.
    return { ...content };
  }
  const filled = isObject(file) ? { ...(parameter as Content), [type]: { ...file, id: mediaObjectId } } : shown;
  const changed = { ...header, parameters: [filled, ...parameters.slice(1)] };
  return { ...content, components: components.map((component, i) => (i === index ? changed : component)) };
}

function isHeader(component: unknown): boolean {
  return isObject(component) && typeof component.type === 'string' && component.type.toLowerCase() === 'header';
}

function sameFile(id: unknown, mediaObjectId: string): boolean {
  return typeof id === 'string' && id.toLowerCase() === mediaObjectId;
}

function anotherFile(index: number, type: string): Error {
  const field = `template.components[${index}].parameters[0].${type}`;
  const message = `media_object_id must be the file that ${field} names, where both are given.`;
  return commonErrors.VALIDATION_FAILED({ details: [violation('media_object_id', 'equal', message)] });
}
