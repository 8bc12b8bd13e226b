/** What a tool requires of its key and of this installation. */
export type ToolKind = 'read' | 'write' | 'campaign';

/**
 * Tools that are a single call of the API. Their text, input and scope come from the API description, by `npm run
 * generate` (`mcp-tools.json`).
 */
export const TOOLS_OF_ROUTES: readonly { name: string; operation: string; kind: ToolKind }[] = [
  { name: 'get_key', operation: 'keys_get', kind: 'read' },
  { name: 'list_connections', operation: 'connections_list', kind: 'read' },
  { name: 'list_conversations', operation: 'conversations_list', kind: 'read' },
  { name: 'list_messages', operation: 'messages_list', kind: 'read' },
  { name: 'get_message', operation: 'messages_get', kind: 'read' },
  { name: 'get_message_timeline', operation: 'messages_timeline', kind: 'read' },
  { name: 'list_templates', operation: 'templates_list', kind: 'read' },
  { name: 'get_usage', operation: 'usage_messages', kind: 'read' },
  { name: 'get_tag', operation: 'tags_get', kind: 'read' },
  { name: 'cancel_message', operation: 'messages_cancel', kind: 'write' },
  { name: 'pause_tag', operation: 'tags_pause', kind: 'campaign' },
  { name: 'resume_tag', operation: 'tags_resume', kind: 'campaign' },
  { name: 'cancel_tag', operation: 'tags_cancel', kind: 'campaign' },
];

/** A tool in the form of `mcp-tools.json`. */
export interface ToolOfRoute {
  name: string;
  kind: ToolKind;
  title: string;
  description: string;
  method: string;
  /** With `{name}` for a path parameter. */
  path: string;
  /** Null: any key. */
  scope: string | null;
  query: string[];
  inputSchema: JsonObjectSchema;
}

export interface JsonObjectSchema {
  [key: string]: unknown;
  type: 'object';
  properties: Record<string, object>;
  required: string[];
  additionalProperties: false;
}

const UUID = { type: 'string', format: 'uuid' };

const MESSAGE_PROPERTIES = {
  connection_id: { ...UUID, description: 'The sending number: an id of list_connections.' },
  to: {
    type: 'string',
    description: 'The phone number of the recipient: digits with the country code, such as +15550100001.',
  },
  recipient: {
    type: 'string',
    description: 'Instead of `to`: the user id of a contact who hides the number (`contact.user_id`).',
  },
  text: {
    type: 'string',
    minLength: 1,
    maxLength: 4_096,
    description: 'The text. Only within 24 hours after the recipient wrote; else use `template`.',
  },
  template: {
    type: 'object',
    description: 'Instead of `text`: an approved template of list_templates, with its values.',
    properties: {
      name: { type: 'string' },
      language: { type: 'string', description: 'Such as en_US.' },
      parameters: {
        type: 'object',
        description: 'Values by part: `header`, `body`, `buttons`, as `variables` of list_templates names them.',
      },
    },
    required: ['name', 'language'],
    additionalProperties: false,
  },
  reply_to_message_id: { ...UUID, description: 'A message of the same conversation that this one answers.' },
  tag: { type: 'string', description: 'Groups messages, as of a campaign.' },
} as const;

const MESSAGE_SCHEMA: JsonObjectSchema = {
  type: 'object',
  properties: MESSAGE_PROPERTIES,
  required: ['connection_id'],
  additionalProperties: false,
};

export const CHECK_MESSAGE = {
  name: 'check_message',
  title: 'Check a message without sending it',
  description:
    'Says whether send_message would take this message, what the recipient would see, and what may keep it from arriving. Nothing is sent. Call it before send_message.',
  inputSchema: MESSAGE_SCHEMA,
} as const;

export const SEND_MESSAGE = {
  name: 'send_message',
  title: 'Send a message to a person',
  description:
    'Sends a WhatsApp message, a text or a template. It cannot be taken back once it has left. Call check_message with the same values first. A repeated call with the same idempotency_key sends nothing again and answers the same message.',
  inputSchema: {
    ...MESSAGE_SCHEMA,
    properties: {
      ...MESSAGE_PROPERTIES,
      idempotency_key: { ...UUID, description: 'A new UUID for each message; the same one where a call is repeated.' },
    },
    required: ['connection_id', 'idempotency_key'],
  } as JsonObjectSchema,
} as const;

/** The input of the two tools above, validated by their schema. */
export interface MessageInput {
  connection_id: string;
  to?: string;
  recipient?: string;
  text?: string;
  template?: { name: string; language: string; parameters?: object };
  reply_to_message_id?: string;
  tag?: string;
  idempotency_key?: string;
}

/** The body of POST /messages. A text beside a template is refused there. */
export function messageBody({ text, template, idempotency_key: _key, ...rest }: MessageInput): object {
  const parts = { ...(text !== undefined && { text: { body: text } }), ...(template !== undefined && { template }) };
  return { ...rest, type: template === undefined ? 'text' : 'template', ...parts };
}
