import { receivedContent } from '@herald/client';

export interface Shown {
  type: string;
  body: string | null;
  content: Record<string, unknown>;
}

/** What an agent reads of a message; empty where a file says all. */
export function textOf({ type, body, content }: Shown): string {
  const received = receivedContent({ type, content });
  switch (received.type) {
    case 'location': {
      const { latitude, longitude, name, address } = received.content;
      const place = [name, address].filter((part) => typeof part === 'string' && part !== '').join(', ');
      return `${place === '' ? 'Location' : place}\nhttps://maps.google.com/?q=${latitude},${longitude}`;
    }
    case 'contacts':
      return received.content.contacts
        .map(({ name, phones }) => {
          const numbers = (Array.isArray(phones) ? phones : [])
            .map(({ phone }: { phone?: string }) => phone ?? '')
            .join(', ');
          return `Contact: ${name?.formatted_name ?? ''} ${numbers}`.trim();
        })
        .join('\n');
    case 'reaction':
      return body === null || body === '' ? '(takes the reaction back)' : body;
    case 'order': {
      const items = received.content.product_items
        .map(({ quantity, product_retailer_id: product }) => `${quantity} × ${product}`)
        .join('\n');
      return ['Order', items, body ?? ''].filter((part) => part !== '').join('\n');
    }
    case 'unsupported':
      return '(a message that WhatsApp does not hand on, such as a poll)';
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
    case 'sticker':
      return body ?? '';
    default:
      if (type === 'edit') return `(corrected) ${body ?? ''}`.trim();
      if (type === 'revoke') return '(withdrew the message)';
      return body ?? `(${type})`;
  }
}

const LONGEST_CAPTION = 1_024;

export function isCaption(text: string): boolean {
  return text.length <= LONGEST_CAPTION;
}

/** Chatwoot's editor writes Markdown, WhatsApp has signs of its own. Code is left alone. */
export function whatsappText(markdown: string): string {
  return markdown
    .split(/(```[\s\S]*?```|`[^`\n]*`)/)
    .map((part, index) =>
      index % 2 === 1
        ? part
        : part
            .replaceAll(/\\\n/g, '\n')
            .replaceAll(/\*\*(\S(?:[^*\n]*\S)?)\*\*/g, '*$1*')
            .replaceAll(/~~(\S(?:[^~\n]*\S)?)~~/g, '~$1~'),
    )
    .join('')
    .trim();
}
