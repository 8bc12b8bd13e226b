import { boolean, fault, object, oneOf, refined, string } from '../../../common/shape.js';
import { bodyShape, type MessageVariant } from './variant.js';

export const MEDIA_TYPES = ['image', 'video', 'audio', 'document', 'sticker'] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

interface MediaBody {
  type: MediaType;
  media_object_id?: string;
  media: { id?: string; link?: string; caption?: string; filename?: string; voice?: boolean };
}

/** Where the platform has these fields (Cloud API reference of the messages endpoint). */
const ONLY_FOR: Readonly<Record<'caption' | 'filename' | 'voice', readonly MediaType[]>> = {
  caption: ['image', 'video', 'document'],
  filename: ['document'],
  voice: ['audio'],
};

const media = object({
  optional: {
    id: string({ min: 1, max: 256, description: 'Id of a file: ours from POST /media, or one of the platform.' }),
    link: string({
      max: 2_048,
      pattern: /^https:\/\/[^\s/?#]+\S*$/,
      meaning: 'an https:// address',
      format: 'uri',
      description: 'Address from which the platform fetches the file; starts with https://.',
      example: 'https://example.com/menu.pdf',
    }),
    caption: string({ max: 1_024, description: 'Text under an image, a video or a document.' }),
    filename: string({ max: 240, description: 'Name under which a document is shown.' }),
    voice: boolean({ description: 'Send an audio file (ogg with Opus) as a voice note.' }),
  },
});

/** Image, video, audio, document, sticker. */
export const mediaVariant: MessageVariant = {
  name: 'media',
  types: MEDIA_TYPES,
  shape: refined(bodyShape({ type: oneOf(MEDIA_TYPES), media }), (body: MediaBody, _field, faults) => {
    const { id, link } = body.media;
    if (id !== undefined && link !== undefined) {
      faults.push(fault('media', 'exactly_one', 'media must hold either id or link, not both.'));
    } else if (link !== undefined && body.media_object_id !== undefined) {
      faults.push(fault('media_object_id', 'exactly_one', 'media_object_id and media.link exclude each other.'));
    } else if (id === undefined && link === undefined && body.media_object_id === undefined) {
      faults.push(fault('media', 'exactly_one', 'media must hold either id or link.'));
    } else if (id !== undefined && body.media_object_id !== undefined && !sameId(id, body.media_object_id)) {
      faults.push(fault('media_object_id', 'equal', 'media_object_id must equal media.id where both are given.'));
    }
    for (const [name, types] of Object.entries(ONLY_FOR)) {
      if (body.media[name as keyof typeof ONLY_FOR] === undefined || types.includes(body.type)) continue;
      faults.push(fault(`media.${name}`, 'not_for_type', `media.${name} is only for ${types.join(', ')}.`));
    }
  }),
  normalize: (body) => {
    const { type, media: given, media_object_id: objectId } = body as unknown as MediaBody;
    const id = given.id ?? objectId;
    return { type, content: id === undefined ? { ...given } : { ...given, id }, body: given.caption ?? null };
  },
};

function sameId(a: string, b: string): boolean {
  return a.toLowerCase() === b.toLowerCase();
}
