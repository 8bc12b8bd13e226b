/** Endings by which the platform knows what it takes; it looks at a file's name as well as at its bytes. */
const ENDINGS: Readonly<Record<string, string>> = {
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'video/mp4': 'mp4',
  'video/3gpp': '3gp',
  'audio/aac': 'aac',
  'audio/amr': 'amr',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/ogg': 'ogg',
  'text/plain': 'txt',
  'application/pdf': 'pdf',
  'application/msword': 'doc',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.ms-powerpoint': 'ppt',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'pptx',
};

/**
 * A name for the upload that says the file's type and nothing else: the recipient sees the message's `filename`, and
 * what a customer called a file is nobody else's business.
 */
export function uploadName(mimeType: string, filename: string | null): string {
  const plain = mimeType.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  const own = /\.([a-z0-9]{1,8})$/i.exec(filename ?? '')?.[1]?.toLowerCase();
  return `file.${ENDINGS[plain] ?? own ?? 'bin'}`;
}
