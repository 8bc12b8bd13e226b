import { ApiOperation } from '@nestjs/swagger';
import { FORMATS } from '../sniff/formats.js';

const LIMITS = Object.values(FORMATS);

/** The table of what is taken, made from what is enforced. */
function limitsTable(): string {
  const rows = new Map<string, string[]>();
  for (const { type, mimeType, limitBytes } of LIMITS) {
    const row = `${type}|${limitBytes}`;
    rows.set(row, [...(rows.get(row) ?? []), `\`${mimeType}\``]);
  }
  const lines = [...rows].map(([row, types]) => {
    const [type = '', limit = ''] = row.split('|');
    const label = Number(limit) === FORMATS.animatedSticker.limitBytes ? `${type} (animated)` : type;
    return `| ${label} | ${types.join(', ')} | ${size(Number(limit))} |`;
  });
  return ['| Type | Formats | At most |', '|---|---|---|', ...lines].join('\n');
}

function size(bytes: number): string {
  return bytes >= 1_048_576 ? `${bytes / 1_048_576} MiB` : `${bytes / 1_024} KiB`;
}

/** Beside the comment of the route, which cannot hold what is computed. */
export const UploadMediaDocs = (): MethodDecorator =>
  ApiOperation({
    summary: 'Upload a file',
    description: [
      'Stores a file for sending: pass its `id` as `media.id` of a message, as often as you like. What it is, is told',
      'from its bytes, never from its name; `type`, where given, must agree.',
      '',
      limitsTable(),
      '',
      'A voice message (`voice=true`) is Ogg with Opus, mono.',
    ].join('\n'),
  });
