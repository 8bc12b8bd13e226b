import { defineErrors, error } from '../../common/define-errors.js';

/** Answers of the platform webhook; no route of the API answers with them. */
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
