import { useState } from 'react';
import { Button, SelectField } from './controls.tsx';
import { Dialog } from './dialog.tsx';
import { CopyButton } from './ui.tsx';

/** What connects a client to the tools of this Herald; the key stays out of it, as files with it are shared. */
const CLIENTS: Readonly<Record<string, (url: string) => string>> = {
  'Claude Code': (url) => `claude mcp add --transport http herald ${url} --header "Authorization: Bearer $HERALD_KEY"`,
  Cursor: (url) =>
    JSON.stringify(
      { mcpServers: { herald: { url, headers: { Authorization: 'Bearer ${env:HERALD_KEY}' } } } },
      null,
      2,
    ),
  'VS Code': (url) =>
    JSON.stringify(
      {
        inputs: [{ type: 'promptString', id: 'herald-key', description: 'API key of Herald', password: true }],
        servers: { herald: { type: 'http', url, headers: { Authorization: 'Bearer ${input:herald-key}' } } },
      },
      null,
      2,
    ),
};

/** How an agent uses Herald by the Model Context Protocol. */
export function AgentDialog({ scopes, onClose }: { scopes: readonly string[]; onClose: () => void }) {
  const [client, setClient] = useState('Claude Code');
  const text = CLIENTS[client]?.(`${window.location.origin}/mcp`) ?? '';
  return (
    <Dialog title="Connect an agent" onClose={onClose}>
      <p>
        An agent reads conversations, and sends where its key may.{' '}
        {scopes.includes('messages:write')
          ? 'This key may send: for an agent that only reads, make one without messages:write.'
          : 'This key cannot send.'}
      </p>
      <SelectField
        label="Client"
        value={client}
        options={Object.keys(CLIENTS).map((name) => [name, name])}
        onValue={setClient}
      />
      <pre tabIndex={0}>{text}</pre>
      <p className="hint">
        Put the API key into HERALD_KEY, or type it where VS Code asks. Customers write to an agent too: docs/mcp.md
        says what it must not be able to do.
      </p>
      <div className="row">
        <CopyButton text={text} label="Copy" />
        <Button primary label="Close" onClick={onClose} />
      </div>
    </Dialog>
  );
}
