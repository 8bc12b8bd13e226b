/** Who can fix a failure: the caller of the API, the recipient, the operator of Herald, or WhatsApp. */
export const RESPONSIBLES = ['you', 'recipient', 'operator', 'whatsapp'] as const;
export type Responsible = (typeof RESPONSIBLES)[number];

/** A failure in plain words, for people. */
export interface FailureMeaning {
  /** What happened, and what to do about it. */
  summary: string;
  /** Null: only time helps, or it is unknown. */
  responsible: Responsible | null;
  /** Minutes after the failure until the same message may succeed; null: it would fail again unchanged. */
  retryAfterMinutes: number | null;
}

const meaning = (
  responsible: Responsible | null,
  summary: string,
  retryAfterMinutes: number | null = null,
): FailureMeaning => ({ summary, responsible, retryAfterMinutes });

/**
 * Why a message failed, in terms that do not depend on the platform's codes, with their meanings. A platform code may
 * add detail (`meaningOf`).
 */
export const FAILURE_MEANINGS = {
  invalid_recipient: meaning(
    'you',
    'This recipient cannot get this message. Check the number or user id that you send to.',
  ),
  recipient_unreachable: meaning(
    'recipient',
    'The recipient cannot be reached: the number is not on WhatsApp, you are blocked, or the app is too old. Use another channel.',
  ),
  service_window_closed: meaning(
    'you',
    'More than 24 hours have passed since the customer last wrote. Send an approved template, or retry after they write again.',
  ),
  template_unavailable: meaning(
    'you',
    'The template is paused, disabled or deleted, or does not exist in this language. Use an approved one.',
  ),
  invalid_content: meaning('you', 'WhatsApp refuses the content. Change it and send it as a new message.'),
  media_error: meaning(
    'you',
    'The file is gone, too large or of a kind that WhatsApp does not take. Upload it again, or another one.',
  ),
  rate_limited: meaning(
    null,
    'More was sent than WhatsApp takes at that pace. Herald waited and tried again until its tries were used up.',
    15,
  ),
  recipient_limit: meaning(
    'whatsapp',
    'WhatsApp limits how many marketing messages a person gets, and this one exceeded it. Not before a day has passed.',
    24 * 60,
  ),
  opted_out: meaning(
    'recipient',
    'The recipient has chosen to get no marketing messages from you, and only they can change it, in WhatsApp. Other messages reach them.',
  ),
  not_conversation_owner: meaning(
    'operator',
    'Another app owns the conversation with this customer at WhatsApp, and only the owner may answer. Send a template, or retry once the conversation is yours.',
  ),
  account_restricted: meaning(
    'operator',
    'WhatsApp restricts the business account or the number. WhatsApp Manager says why; retry once it is lifted.',
  ),
  sender_not_ready: meaning(
    'operator',
    'The sending number is not registered with WhatsApp, or the token cannot reach it. Retry once it is registered.',
  ),
  authentication: meaning(
    'operator',
    'WhatsApp refuses the access token, or the token lacks a right. Retry once the connection has a valid one.',
  ),
  platform_unavailable: meaning('whatsapp', 'WhatsApp was not available. The same message may go through later.', 15),
  expired: meaning(
    'operator',
    'It waited in the queue until its time was over; nothing was sent. Retry it if it still makes sense.',
    0,
  ),
  canceled: meaning('you', 'You canceled it before it was sent.'),
  unknown: meaning(null, "WhatsApp refused it for a reason that Herald does not know. `error` has WhatsApp's words."),
};

export type FailureCategory = keyof typeof FAILURE_MEANINGS;
export const FAILURE_CATEGORIES = Object.keys(FAILURE_MEANINGS) as FailureCategory[];
