import { jsonAnswer } from '../http/answer.js';
import type { MediaFile } from '../media/media.types.js';
import type { SimulatorContext } from '../simulator-context.js';
import { controlBody, ControlError, controlHandler, textField } from './control-input.js';

/** Registers the control calls about files: what there is, and how the end of a life is brought forward. */
export function registerMediaControlRoutes(context: SimulatorContext): void {
  const { router, media } = context;
  router.plain(
    'GET',
    '/_simulator/media',
    controlHandler(() => jsonAnswer({ data: media.all().map(mediaJson) })),
  );
  router.plain(
    'POST',
    '/_simulator/media/:id/expire',
    controlHandler((call) => {
      const id = call.params.id as string;
      const file = media.get(id);
      if (file === undefined) throw new ControlError(`No file has the id ${id}.`, 404);
      const what = textField(controlBody(call), 'what');
      // Addresses made within this very millisecond are old ones too.
      if (what === 'addresses') media.change(id, { addressesFrom: Date.now() + 1 });
      else if (what === 'file') media.change(id, { expiresAt: Date.now() });
      else throw new ControlError('"what" must be "addresses" or "file".');
      return jsonAnswer(mediaJson(media.get(id) ?? { ...file, expiresAt: Date.now() }));
    }),
  );
}

function mediaJson(file: MediaFile): object {
  return {
    id: file.id,
    phone_number_id: file.phoneNumberId,
    mime_type: file.mimeType,
    sha256: file.sha256,
    file_size: file.sizeBytes,
    source: file.source,
    created_at: new Date(file.createdAt).toISOString(),
    expires_at: new Date(file.expiresAt).toISOString(),
  };
}
