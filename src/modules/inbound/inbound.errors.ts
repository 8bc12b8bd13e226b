import { defineErrors, error } from '../../common/define-errors.js';

export const historyErrors = defineErrors('history', {
  HISTORY_REFUSED: error<{ reason: string }>({
    kind: 'unprocessable',
    alsoKinds: ['platform_unavailable'],
    message: ({ reason }) => `WhatsApp does not hand the history over: ${reason}`,
    when: 'WhatsApp was asked for the history of the WhatsApp Business app, and refused or did not answer (502).',
    fix: 'WhatsApp hands it over once, within 24 hours after the number was connected. `message` has its words; after 502 ask again.',
    sample: { reason: 'The history can only be requested once' },
  }),
});

/** Answers of the webhook for WhatsApp; no route of the API uses them. */
export const notificationsErrors = defineErrors('notifications', {
  NOTIFICATION_SIGNATURE_INVALID: error({
    kind: 'unauthenticated',
    message: 'The signature does not fit the body; sign its bytes with the app secret in X-Hub-Signature-256.',
    when: "A notification's X-Hub-Signature-256 is missing, or made with another secret or of another body.",
    fix: 'Set WHATSAPP_APP_SECRET to the secret of the Meta app that owns the webhook subscription.',
  }),
  WEBHOOK_HANDSHAKE_REFUSED: error({
    kind: 'forbidden',
    message: 'This is not the verify token; enter the value of WHATSAPP_VERIFY_TOKEN.',
    when: 'The handshake of the platform webhook has another verify token, or is incomplete.',
    fix: "Enter the value of WHATSAPP_VERIFY_TOKEN as the verify token in the Meta app's webhook settings.",
  }),
});
