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
});
