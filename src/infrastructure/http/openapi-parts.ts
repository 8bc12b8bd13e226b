/** Headers of the answers, by their names; operations refer to them. */
export const RESPONSE_HEADERS = {
  'X-Request-Id': {
    description: "The caller's X-Request-Id where it matches ^[A-Za-z0-9._-]{1,128}$, else a new one.",
    schema: { type: 'string' },
    example: '5b8a4f7e-0c1d-4c43-9b5e-2f6f1b7b8a10',
  },
  'X-HERALD-API-Version': { description: 'The version of the API.', schema: { type: 'string', const: 'v1' } },
  'RateLimit-Policy': {
    description: 'The limit of the key: `q` requests at once, refilled within `w` seconds.',
    schema: { type: 'string' },
    example: '"default";q=100;w=2',
  },
  RateLimit: {
    description: 'What is left of it: `r` requests now; all of them again in `t` seconds.',
    schema: { type: 'string' },
    example: '"default";r=87;t=1',
  },
  'Retry-After': { description: 'Seconds to wait before trying again.', schema: { type: 'integer' }, example: 1 },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string', const: 'Bearer' } },
};

export const ERROR_SCHEMA = 'Error';

export const ERROR_SCHEMAS = {
  [ERROR_SCHEMA]: {
    type: 'object',
    description: 'Every error answer. Beside the fields named here stand those of its code.',
    required: ['error'],
    properties: {
      error: {
        type: 'object',
        required: ['code', 'message', 'request_id', 'doc_url'],
        additionalProperties: true,
        properties: {
          code: { type: 'string', description: 'Stable; decide by it.', examples: ['INVALID_REQUEST'] },
          message: { type: 'string', description: 'One sentence for people that says what to do.' },
          request_id: { type: 'string', description: 'Names this request in our logs.' },
          doc_url: { type: 'string', format: 'uri', description: 'More about this code.' },
          details: {
            type: 'array',
            description: 'The faulty fields, where the request was invalid.',
            items: { $ref: '#/components/schemas/ErrorDetail' },
          },
        },
      },
    },
  },
  ErrorDetail: {
    type: 'object',
    required: ['field', 'rule', 'message'],
    properties: {
      field: { type: 'string', description: 'Path of the field; empty: the body as a whole.', examples: ['text.body'] },
      rule: { type: 'string', description: 'Which rule it breaks.', examples: ['length'] },
      message: { type: 'string', examples: ['text.body must be 1 to 4096 characters long.'] },
    },
  },
};
