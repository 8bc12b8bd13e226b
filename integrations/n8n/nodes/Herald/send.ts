import { NodeOperationError, type IDataObject, type IExecuteFunctions, type INodeProperties } from 'n8n-workflow';

/* The fields of a message, by hand: the API takes one of many forms, of which these are the most used; JSON takes all. */

const show = { resource: ['message'], operation: ['send', 'check'] };
const only = (...kinds: string[]) => ({ show: { ...show, kind: kinds } });
const FILES = ['image', 'video', 'audio', 'document'];

export const sendProperties: INodeProperties[] = [
  {
    displayName: 'Number Name or ID',
    name: 'connectionId',
    type: 'options',
    typeOptions: { loadOptionsMethod: 'getConnections' },
    default: '',
    required: true,
    displayOptions: only('text', 'template', 'file'),
    description:
      'The number that sends. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
  },
  {
    displayName: 'To',
    name: 'to',
    type: 'string',
    default: '',
    required: true,
    placeholder: '+15550001234',
    displayOptions: only('text', 'template', 'file'),
    description: 'The number of the recipient with its country code, or the user ID of a contact who hides the number',
  },
  {
    displayName: 'Message',
    name: 'kind',
    type: 'options',
    noDataExpression: true,
    displayOptions: { show },
    options: [
      { name: 'File', value: 'file' },
      { name: 'JSON', value: 'json', description: 'Any form that POST /messages takes' },
      { name: 'Template', value: 'template', description: 'Also outside of the 24 hours after the customer wrote' },
      { name: 'Text', value: 'text' },
    ],
    default: 'text',
  },
  {
    displayName: 'Text',
    name: 'text',
    type: 'string',
    typeOptions: { rows: 4 },
    default: '',
    required: true,
    displayOptions: only('text'),
  },
  {
    displayName: 'Template Name',
    name: 'templateName',
    type: 'string',
    default: '',
    required: true,
    displayOptions: only('template'),
  },
  {
    displayName: 'Language',
    name: 'language',
    type: 'string',
    default: 'en_US',
    required: true,
    displayOptions: only('template'),
  },
  {
    displayName: 'Values',
    name: 'values',
    type: 'string',
    typeOptions: { multipleValues: true },
    default: [],
    displayOptions: only('template'),
    description: 'What stands in the place of {{1}}, {{2}} and so on in the text of the template',
  },
  {
    displayName: 'Kind of File',
    name: 'fileType',
    type: 'options',
    options: FILES.map((value) => ({ name: value.charAt(0).toUpperCase() + value.slice(1), value })),
    default: 'image',
    displayOptions: only('file'),
  },
  {
    displayName: 'File Link',
    name: 'link',
    type: 'string',
    default: '',
    required: true,
    placeholder: 'https://example.com/menu.pdf',
    displayOptions: only('file'),
    description: 'An https address from which WhatsApp fetches the file',
  },
  {
    displayName: 'Caption',
    name: 'caption',
    type: 'string',
    default: '',
    displayOptions: { show: { ...show, kind: ['file'], fileType: ['image', 'video', 'document'] } },
  },
  {
    displayName: 'Message as JSON',
    name: 'json',
    type: 'json',
    default: '{\n  "connection_id": "",\n  "to": "",\n  "type": "text",\n  "text": { "body": "" }\n}',
    required: true,
    displayOptions: only('json'),
  },
  {
    displayName: 'Additional Fields',
    name: 'more',
    type: 'collection',
    placeholder: 'Add Field',
    default: {},
    displayOptions: { show },
    options: [
      {
        displayName: 'Client Message ID',
        name: 'client_message_id',
        type: 'string',
        default: '',
        description: 'Your own ID; it comes back in events',
      },
      {
        displayName: 'Idempotency Key',
        name: 'idempotencyKey',
        type: 'string',
        default: '',
        description:
          'A UUID: one key makes one message. Left out, it is made of the execution, the node, the item and the message, so that Retry On Fail sends once.',
      },
      {
        displayName: 'Send At',
        name: 'send_at',
        type: 'dateTime',
        default: '',
        description: 'When it is to go; left out: now',
      },
      {
        displayName: 'Tag',
        name: 'tag',
        type: 'string',
        default: '',
        description: 'A name for a group of messages, such as a campaign',
      },
    ],
  },
];

/** User ids, which stand in place of a number: a country, a dot and characters. */
const USER_ID = /^[A-Z]{2}\./;

/** The body of POST /messages. */
export function messageOf(context: IExecuteFunctions, item: number): IDataObject {
  const get = (name: string) => context.getNodeParameter(name, item) as string;
  const more = context.getNodeParameter('more', item, {}) as IDataObject;
  const further: IDataObject = {};
  for (const name of ['client_message_id', 'tag']) if (more[name]) further[name] = more[name];
  if (more.send_at) further.send_at = new Date(more.send_at as string).toISOString();
  const kind = get('kind');
  if (kind === 'json') {
    const json: unknown = context.getNodeParameter('json', item);
    return { ...(typeof json === 'string' ? parsed(context, item, json) : (json as IDataObject)), ...further };
  }
  const to = get('to');
  const common = { connection_id: get('connectionId'), [USER_ID.test(to) ? 'recipient' : 'to']: to, ...further };
  if (kind === 'text') return { ...common, type: 'text', text: { body: get('text') } };
  if (kind === 'template') {
    const values = context.getNodeParameter('values', item, []) as string[];
    const template = { name: get('templateName'), language: get('language'), parameters: { body: values } };
    return { ...common, type: 'template', template };
  }
  const caption = context.getNodeParameter('caption', item, '') as string;
  return { ...common, type: get('fileType'), media: { link: get('link'), ...(caption ? { caption } : {}) } };
}

/** An expression in it may have brought a quotation mark. */
function parsed(context: IExecuteFunctions, item: number, text: string): IDataObject {
  try {
    return JSON.parse(text) as IDataObject;
  } catch {
    const words = 'Message as JSON is no JSON; put values into it with {{ JSON.stringify(...) }}';
    throw new NodeOperationError(context.getNode(), words, { itemIndex: item });
  }
}
