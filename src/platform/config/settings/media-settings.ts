import type { Setting } from '../setting.js';

/** Media files. */
export const MEDIA_SETTINGS: readonly Setting[] = [
  {
    name: 'MEDIA_DIR',
    section: 'Media',
    type: 'string',
    fallback: null,
    meaning: 'Folder of the media files, shared by all processes. Default: media under DATA_DIR.',
  },
  {
    name: 'MEDIA_MIN_FREE_MIB',
    section: 'Media',
    type: 'integer',
    min: 0,
    max: 1_048_576,
    fallback: '256',
    meaning: 'Mebibytes that must stay free on the disk of MEDIA_DIR; uploads are refused with 503 below it.',
  },
];
