import { isUuid } from '../../../common/ids.js';
import { isObject, type JsonObject } from '../../../common/json.js';
import { own, ownText } from '../../../infrastructure/whatsapp/json-access.js';
import { ownWord } from './components.js';
import { headerMediaOf } from './send-parameters.js';

type HeaderMedia = NonNullable<ReturnType<typeof headerMediaOf>>;

/** A file of ours that is the sample in a header, for WhatsApp's review. */
export interface SampleFile {
  mediaObjectId: string;
  type: HeaderMedia;
}

/** The files in headers, of the template and of its cards, each once per type. */
export function samplesIn(components: readonly JsonObject[]): SampleFile[] {
  const found = new Map<string, SampleFile>();
  withHandles(components, (sample) => {
    found.set(keyOf(sample), sample);
    return null;
  });
  return [...found.values()];
}

export const keyOf = ({ mediaObjectId, type }: SampleFile): string => `${type}/${mediaObjectId}`;

/** The components with WhatsApp's handle in place of each file; without a handle they stay. */
export function withHandles<Component extends JsonObject>(
  components: readonly Component[],
  handleOf: (sample: SampleFile) => string | null,
): Component[] {
  return components.map((component) => {
    const type = ownWord(component, 'type');
    if (type === 'CAROUSEL' && Array.isArray(component.cards)) {
      return { ...component, cards: component.cards.map((card: unknown) => cardWithHandles(card, handleOf)) };
    }
    const sample = type === 'HEADER' ? sampleOf(component) : null;
    const handle = sample === null ? null : handleOf(sample);
    if (handle === null) return component;
    const { media_object_id: _file, ...example } = component.example as JsonObject;
    return { ...component, example: { ...example, header_handle: [handle] } };
  });
}

function cardWithHandles(card: unknown, handleOf: (sample: SampleFile) => string | null): unknown {
  if (!isObject(card) || !Array.isArray(card.components)) return card;
  return { ...card, components: withHandles(card.components.filter(isObject), handleOf) };
}

function sampleOf(header: JsonObject): SampleFile | null {
  const id = ownText(own(header, 'example'), 'media_object_id');
  const type = headerMediaOf([header]);
  return id === null || !isUuid(id) || type === null ? null : { mediaObjectId: id.toLowerCase(), type };
}
