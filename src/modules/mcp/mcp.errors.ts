import { defineErrors, error } from '../../common/define-errors.js';

export const mcpErrors = defineErrors('mcp', {
  MCP_ORIGIN_REFUSED: error<{ header: 'Host' | 'Origin' }>({
    kind: 'forbidden',
    message: ({ header }) =>
      `POST /mcp takes no request with this ${header}: use the address of PUBLIC_URL, or localhost.`,
    when: 'The header `Host` or `Origin` of POST /mcp is neither that of `PUBLIC_URL` nor of this machine, as from a page of another site.',
    fix: 'Set `PUBLIC_URL` to the address that clients use, and call `/mcp` there.',
    sample: { header: 'Origin' },
  }),
  MCP_KEY_REQUIRED: error({
    kind: 'unauthenticated',
    message: 'POST /mcp takes an API key, and no session of the console: an agent calls the API with a key of its own.',
    when: 'POST /mcp was called with the cookie of a session.',
    fix: 'Send `Authorization: Bearer <API_KEY>`.',
    headers: () => ({ 'WWW-Authenticate': 'Bearer' }),
  }),
});
