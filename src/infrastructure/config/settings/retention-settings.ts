import type { Setting } from '../setting.js';

const days = { section: 'Retention', type: 'integer', min: 0, max: 36_500 } as const;

/** For how long what is personal is kept. */
export const RETENTION_SETTINGS: readonly Setting[] = [
  {
    name: 'MESSAGE_CONTENT_RETENTION_DAYS',
    ...days,
    fallback: '180',
    meaning: 'Days after which texts and contents of messages are cleared; the journal keeps their states. 0: never.',
  },
  {
    name: 'RECEIVED_MEDIA_RETENTION_DAYS',
    ...days,
    fallback: '180',
    meaning: 'Days after which files that customers sent are deleted. 0: never.',
  },
  {
    name: 'UPLOADED_MEDIA_RETENTION_DAYS',
    ...days,
    fallback: '0',
    meaning:
      'Days after which uploaded files are deleted; a message that needs one later fails. 0: when their workspace deletes them.',
  },
  {
    name: 'ATTEMPT_RETENTION_DAYS',
    ...days,
    min: 31,
    fallback: '400',
    meaning:
      "Days for which each message's log of send attempts is kept. The platform may speak of one for 30 days, so it stays longer than that.",
  },
  {
    name: 'WEBHOOK_RETENTION_DAYS',
    ...days,
    min: 5,
    max: 365,
    fallback: '30',
    meaning: 'Days after which webhook events, contents and all, and the log of their delivery attempts are removed.',
  },
  {
    name: 'NOTIFICATION_RETENTION_DAYS',
    ...days,
    fallback: '14',
    meaning: "Days for which the platform's notifications are kept as they came, once they are applied. 0: for ever.",
  },
  {
    name: 'OTP_RETENTION_DAYS',
    ...days,
    fallback: '30',
    meaning: 'Days for which one-time codes and the numbers they went to are kept. 0: for ever.',
  },
];
