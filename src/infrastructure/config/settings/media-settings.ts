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
  {
    name: 'MEDIA_WORKSPACE_LIMIT_MIB',
    section: 'Media',
    type: 'integer',
    min: 0,
    max: 1_073_741_824,
    fallback: '20480',
    meaning:
      "Mebibytes of stored files that a workspace may have, where it has no limit of its own (`herald workspace limits`); further uploads are refused, and customers' files wait. 0: no limit.",
  },
  {
    name: 'MEDIA_MAX_INBOUND_MIB',
    section: 'Media',
    type: 'integer',
    min: 1,
    max: 2_048,
    fallback: '100',
    meaning: "Mebibytes of a customer's file at most; larger ones are not fetched. The platform itself takes 100 MB.",
  },
];
