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
