import { defineErrors, error } from '../../common/define-errors.js';

const EXPIRED = {
  retention: 'Events that follow this cursor are no longer kept.',
  not_recorded: 'Events were not recorded at the time of this cursor.',
  database_changed: 'This cursor was made on another database, before a restore or a failover.',
};

export const eventsErrors = defineErrors('events', {
  EVENT_CURSOR_EXPIRED: error<{ reason: 'retention' | 'not_recorded' | 'database_changed' }>({
    kind: 'gone',
    message: ({ reason }) =>
      `${EXPIRED[reason]} Call GET /events without after, which begins with the oldest event that is kept, and pass over those whose id you know.`,
    when: 'What follows the cursor `after` may be incomplete; `reason` says why: `retention`: it is older than events are kept, 30 days unless the installation says otherwise; `not_recorded`: the workspace had no webhook and did not read for so long, and events were not recorded meanwhile; `database_changed`: it was made on another database, before a restore or a failover that may have lost what it is about.',
    fix: 'Call GET /events without `after`, pass over the events whose `id` you know, and go on with `next`. For what is older than that read GET /messages.',
    extra: ({ reason }) => ({ reason }),
    sample: { reason: 'retention' },
  }),
});
