import { errorOf } from '../../../clients/typescript/src/errors.js';
import { refusalOf } from './client.js';

describe('what the terminal says of a refusal', () => {
  const refused = (message: string, ...details: string[]) => {
    const error = { code: 'VALIDATION_FAILED', message, request_id: 'r', doc_url: 'https://herald.example/docs' };
    const fields = details.map((text) => ({ message: text }));
    return refusalOf(errorOf(new Response(null, { status: 422 }), { error: { ...error, details: fields } }));
  };

  it('names every field', () => {
    expect(refused('Two fields are wrong.', 'to is missing.', 'type is missing.').message).toBe(
      'Two fields are wrong. to is missing. type is missing.',
    );
  });

  it('says once what message and detail both say', () => {
    expect(refused('to is missing.', 'to is missing.').message).toBe('to is missing.');
  });

  it('of an answer that is not one of Herald asks for the address', () => {
    const { code, message } = refusalOf(errorOf(new Response(null, { status: 404 }), '<h1>Not found</h1>'));
    expect({ code, message }).toEqual({
      code: 'UNEXPECTED_ANSWER',
      message: 'the answer was 404: is this address a Herald?',
    });
  });
});
