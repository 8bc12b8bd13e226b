import { commonErrors } from '../../common/common.errors.js';
import { isUuid } from '../../common/ids.js';
import { isObject } from '../../common/json.js';
import { violation } from '../../common/shape.js';
import { MEDIA_TYPES, type MediaType } from '../media/media.types.js';

type Content = Readonly<Record<string, unknown>>;

/** Takes an object that names a file by `id` or `link`, and returns it changed or unchanged. */
type FileChange = (file: Content, type: MediaType) => Content;

/** A file stored by Herald that a message's content names. */
interface FileReference {
  id: string;
  /** The media type as which the message sends it. */
  type: MediaType;
}

const TYPES: ReadonlySet<string> = new Set(MEDIA_TYPES);
/** Types of media that the header of a template or of an interactive message can show. */
const HEADER_TYPES: readonly MediaType[] = ['image', 'video', 'document'];

export function isMediaType(type: string): type is MediaType {
  return TYPES.has(type);
}

/** Files stored by Herald in a message, each once per type: those whose id is a UUID. WhatsApp's own ids are digits. */
export function ownFilesIn(type: string, content: Content): FileReference[] {
  const found = new Map<string, FileReference>();
  changeFiles(type, content, (file, fileType) => {
    if (isUuid(file.id)) found.set(`${fileType}/${file.id}`, { id: file.id.toLowerCase(), type: fileType });
    return file;
  });
  return [...found.values()];
}

/**
 * A message's content with `change` applied to each object that names a file: that of a media message, the parameters
 * of a template and of its carousel's cards, the headers of an interactive message and of its cards. Other parts stay
 * unchanged.
 */
export function changeFiles(type: string, content: Content, change: FileChange): Record<string, unknown> {
  if (isMediaType(type)) return { ...change(content, type) };
  return changeShowns(type, content, (shown) => changeFile(shown, change));
}

/** Changes an object that can show a file: a parameter, a header or a card. */
type ShownChange = (shown: Content) => Content;

function changeShowns(type: string, content: Content, change: ShownChange): Record<string, unknown> {
  if (type === 'template') return changeIn(content, 'components', (component) => changeComponent(component, change));
  if (type !== 'interactive') return { ...content };
  const changed = changeHeader(content, change);
  if (!isObject(content.action)) return changed;
  return { ...changed, action: changeIn(content.action, 'cards', (card) => changeHeader(card, change)) };
}

function changeHeader(holder: Content, change: ShownChange): Record<string, unknown> {
  return isObject(holder.header) ? { ...holder, header: change(holder.header) } : { ...holder };
}

function changeComponent(component: Content, change: ShownChange): Content {
  const changed = changeIn(component, 'parameters', change);
  return changeIn(changed, 'cards', (card) => changeIn(card, 'components', (inner) => changeComponent(inner, change)));
}

/**
 * The same content with each file of a parameter or header written as `{type: 'image', image: {id}}`. Callers also
 * write `media_object_id` for its `id`, in the file or beside its type.
 */
export function withFileIds(type: string, content: Content): Record<string, unknown> {
  const named = changeShowns(type, content, (shown) => {
    const word = lowered(shown.type);
    const of = HEADER_TYPES.find((each) => each === word);
    const { media_object_id: id, ...rest } = shown;
    if (of === undefined || typeof id !== 'string') return shown;
    return { ...rest, [of]: { media_object_id: id, ...(isObject(shown[of]) ? shown[of] : {}) } };
  });
  return changeFiles(type, named, (file) => {
    const { media_object_id: id, ...rest } = file;
    if (typeof id !== 'string' || rest.link !== undefined) return file;
    return rest.id === undefined || lowered(rest.id) === lowered(id) ? { ...rest, id } : file;
  });
}

/** A parameter or header, such as `{type: 'image', image: {id}}`. */
function changeFile(shown: Content, change: FileChange): Content {
  const named = lowered(shown.type);
  const type = HEADER_TYPES.find((each) => each === named);
  const file = type === undefined ? undefined : shown[type];
  return type === undefined || !isObject(file) ? shown : { ...shown, [type]: change(file, type) };
}

function changeIn(parent: Content, key: string, change: (item: Content) => Content): Record<string, unknown> {
  const list = parent[key];
  if (!Array.isArray(list)) return { ...parent };
  return { ...parent, [key]: list.map((item: unknown) => (isObject(item) ? change(item) : item)) };
}

/**
 * A template message's content whose header shows `mediaObjectId`: added where the caller gave no header, filled in
 * where the file has neither id nor link, and unchanged where it names the same file.
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
  const index = components.findIndex((each) => isObject(each) && lowered(each.type) === 'header');
  const header = components[index];
  if (!isObject(header)) return { ...content, components: [{ type: 'header', parameters: [shown] }, ...components] };
  const parameters: unknown[] = Array.isArray(header.parameters) ? header.parameters : [];
  const [parameter] = parameters;
  const file = isObject(parameter) ? parameter[type] : undefined;
  if (isObject(parameter) && isObject(file)) {
    if (lowered(file.id) === mediaObjectId) return { ...content };
    if (file.id !== undefined || file.link !== undefined) {
      const field = `template.components[${index}].parameters[0].${type}`;
      const message = `media_object_id must be the file that ${field} names, where both are given.`;
      throw commonErrors.VALIDATION_FAILED({ details: [violation('media_object_id', 'equal', message)] });
    }
  } else if (parameters.length > 0) {
    // The parameter shows no file of this kind: the template's own check reports it.
    return { ...content };
  }
  const filled = isObject(file) ? { ...(parameter as Content), [type]: { ...file, id: mediaObjectId } } : shown;
  const changed = { ...header, parameters: [filled, ...parameters.slice(1)] };
  return { ...content, components: components.map((component, i) => (i === index ? changed : component)) };
}

function lowered(text: unknown): string | null {
  return typeof text === 'string' ? text.toLowerCase() : null;
}
