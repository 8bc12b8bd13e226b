import { boolean, violation, object, oneOf, refined, string, type Shape } from '../../../../common/shape.js';
import { bodyShape, type MessageVariant } from './variant.js';

interface MediaBody {
  media_object_id?: string;
  media: { id?: string; link?: string; caption?: string };
}

/** What names a file: exactly one of the two. */
export const fileSource = {
  id: string({ min: 1, description: 'Id of a file: ours from POST /media, or one of the platform.' }),
  link: string({
    pattern: /^https:\/\/[^\s/?#]+\S*$/,
    meaning: 'an https:// address',
    format: 'uri',
    description: 'Address from which the platform fetches the file; starts with https://.',
    example: 'https://example.com/menu.pdf',
  }),
};
const caption = string({ max: 1_024, description: 'Text under the file.' });
/** Every kind takes these; where the platform has no place for them they are not sent to it. */
const common = {
  filename: string({ max: 240, description: 'Name under which a document is shown; other kinds are sent without it.' }),
  voice: boolean({ description: 'Send audio (ogg with Opus) as a voice note; other kinds are sent without it.' }),
};

/** What each kind takes beside. A caption that the platform does not show would be lost, so it is refused. */
const EXTRA: Readonly<Record<string, Record<string, Shape>>> = {
  image: { caption },
  video: { caption },
  audio: {},
  document: { caption },
  sticker: {},
};

const ONE_SOURCE = {
  oneOf: [
    { required: ['id'] },
    { required: ['link'] },
    {
      description: 'Neither: `media_object_id` names the file.',
      // `false` says the same, and breaks generators of clients.
      properties: { id: { not: {} }, link: { not: {} } },
    },
  ],
};

/** Image, video, audio, document, sticker. */
export const mediaVariants: readonly MessageVariant[] = Object.entries(EXTRA).map(([type, extra]) => ({
  name: `Send${type.charAt(0).toUpperCase()}${type.slice(1)}`,
  type,
  shape: refined(
    bodyShape({
      type: oneOf([type]),
      media: refined(object({ optional: { ...fileSource, ...extra, ...common } }), () => undefined, ONE_SOURCE),
    }),
    (body: MediaBody, _field, violations) => {
      const { id, link } = body.media;
      const objectId = body.media_object_id;
      if (id !== undefined && link !== undefined) {
        violations.push(violation('media', 'exactly_one', 'media must hold either id or link, not both.'));
      } else if (link !== undefined && objectId !== undefined) {
        violations.push(
          violation('media_object_id', 'exactly_one', 'media_object_id and media.link exclude each other.'),
        );
      } else if (id === undefined && link === undefined && objectId === undefined) {
        violations.push(violation('media', 'exactly_one', 'media must hold either id or link.'));
      } else if (id !== undefined && objectId !== undefined && id.toLowerCase() !== objectId.toLowerCase()) {
        violations.push(
          violation('media_object_id', 'equal', 'media_object_id must equal media.id where both are given.'),
        );
      }
    },
  ),
  normalize: (body) => {
    const { media, media_object_id: objectId } = body as unknown as MediaBody;
    const id = media.id ?? objectId;
    return { type, content: id === undefined ? { ...media } : { ...media, id }, body: media.caption ?? null };
  },
}));
