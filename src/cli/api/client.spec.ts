import { apiError } from './client.js';

describe('what the terminal says of a refusal', () => {
  const refused = (message: string, ...details: string[]) =>
    apiError(422, {
      error: { code: 'VALIDATION_FAILED', message, details: details.map((text) => ({ message: text })) },
    });

  it('names every field', () => {
    expect(refused('Two fields are wrong.', 'to is missing.', 'type is missing.').message).toBe(
      'Two fields are wrong. to is missing. type is missing.',
    );
  });

  it('says once what message and detail both say', () => {
    expect(refused('to is missing.', 'to is missing.').message).toBe('to is missing.');
  });
});
