/*
 * Ids in the examples of the API description. Where Herald knows better ones, as in the demo workspace, it puts them in
 * their place when it serves the description, so that "Try it out" works as it stands.
 */
export const EXAMPLE_CONNECTION_ID = '01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f';
export const EXAMPLE_MESSAGE_ID = '01936f6e-2b5c-7c2e-9d8a-3f1b2a4c5d6e';
export const EXAMPLE_IDEMPOTENCY_KEY = '0b7f5a0e-5c1d-4f39-9d8e-2a4c6b8d0e1f';
