/*
 * Ids in the examples of the API description. When Herald serves the description, it replaces them with real ids where
 * it knows some, as in the demo workspace. Swagger UI replaces them with the ids of objects made last in its page, so
 * that "Try it out" works without changes.
 */
export const EXAMPLE_WORKSPACE_ID = '01936f70-0a1b-7c2d-8e3f-4a5b6c7d8e9f';
export const EXAMPLE_CONNECTION_ID = '01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f';
export const EXAMPLE_MESSAGE_ID = '01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e';
export const EXAMPLE_FAILED_MESSAGE_ID = '01936f6e-3c6d-7d3f-8e9b-4a2c3b5d6e7f';
export const EXAMPLE_RECEIVED_MESSAGE_ID = '01936f6e-4d7e-7e4a-8f0c-5b3d4c6e7f80';
export const EXAMPLE_CONVERSATION_ID = '01936f6d-9a1b-7f00-8c11-5a6b7c8d9e0f';
export const EXAMPLE_SCHEDULED_MESSAGE_ID = '01936f6e-5e8f-7f5b-9a1d-6c4e5d7f8091';
export const EXAMPLE_MEDIA_ID = '01936f70-4d5e-7a41-8b2c-6c7d8e9f0a1b';
export const EXAMPLE_DELIVERY_ID = '01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b';
export const EXAMPLE_REPLAY_ID = '01936f72-6f70-7c63-8d4e-8e9f0a1b2c3d';
export const EXAMPLE_DESTINATION_ID = '01936f74-2d3e-7c4f-9051-6b7c8d9e0f1a';
export const EXAMPLE_OPT_OUT_ID = '01936f73-1c2d-7b3e-8f40-5a6b7c8d9e0f';
export const EXAMPLE_OTP_ID = '019b76f0-9c1d-7a55-8f3e-0d4c2b1a6f7e';
export const EXAMPLE_OTP_CODE = '042317';
export const EXAMPLE_SETUP_LINK_ID = '01936f74-2d3e-7c4f-9051-6b7c8d9e0f1a';
export const EXAMPLE_PERSON_ID = '01936f75-3e4f-7d50-8162-7c8d9e0f1a2b';
export const EXAMPLE_INVITATION_ID = '01936f75-4f50-7e61-8273-8d9e0f1a2b3c';
export const EXAMPLE_KEY_ID = 'y4zZjPLnlOBt';
export const EXAMPLE_OPERATOR_KEY_ID = 'Zq3vTn8RkW1b';
export const EXAMPLE_IDEMPOTENCY_KEY = '0b7f5a0e-5c1d-4f39-9d8e-2a4c6b8d0e1f';
export const EXAMPLE_WEBHOOK_URL = 'https://shop.example.com/whatsapp/events';
/** The tag of the demo's failed message. */
export const EXAMPLE_TAG = 'spring-sale';
