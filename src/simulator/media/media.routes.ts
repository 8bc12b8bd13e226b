import { type Answer, jsonAnswer, SUCCESS } from '../http/answer.js';
import type { Call } from '../http/call.js';
import { GraphError } from '../graph-error.js';
import { unknownObject } from '../http/graph-path.js';
import type { SimulatorContext } from '../simulator-context.js';
import { downloadMedia } from './media-download.js';
import { DOWNLOAD_PATH } from './media-address.js';
import { uploadMedia } from './media-upload.js';
import type { MediaFile } from './media.types.js';

/** Registers uploading, looking up, downloading and deleting of files. */
export function registerMediaRoutes(context: SimulatorContext): void {
  const { router, media } = context;
  router.resolveNodes((id) => (media.get(id) === undefined ? null : 'media'));
  router.graph('POST', 'phone_number', 'media', (call) => uploadMedia(context, call), 'stream');
  router.graph('GET', 'media', '', (call) => show(context, call));
  router.graph('DELETE', 'media', '', (call) => {
    media.remove(fileOf(context, call).id);
    return SUCCESS;
  });
  router.plain('GET', DOWNLOAD_PATH, (call) => downloadMedia(context, call));
}

function fileOf(context: SimulatorContext, call: Call): MediaFile {
  const file = context.media.get(call.nodeId);
  const method = call.request.method ?? 'GET';
  if (file === undefined) throw unknownObject(method, call.nodeId);
  const owner = call.query.get('phone_number_id');
  if (owner !== null && owner !== file.phoneNumberId) {
    throw new GraphError(100, {
      message: '(#100) Param phone_number_id is not the number that this media belongs to.',
    });
  }
  return file;
}

function show(context: SimulatorContext, call: Call): Answer {
  const file = fileOf(context, call);
  return jsonAnswer({
    messaging_product: 'whatsapp',
    url: context.mediaAddresses.make(call.request, file.id, 'getMedia', context.tokens.of(call)),
    mime_type: file.mimeType,
    sha256: file.sha256,
    file_size: file.sizeBytes,
    id: file.id,
  });
}
