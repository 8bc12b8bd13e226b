import { noTemporaryFiles, upload, uploaded, uploadStage } from './fixture.js';
import * as sample from './samples.js';

describe('POST /media', () => {
  const stage = uploadStage();

  describe('400', () => {
    it('MEDIA_TOO_LARGE contains the limit of each type, and the caller can read it', async () => {
      const MIB = 1_048_576;
      for (const [file, limit] of [
        [sample.png(5 * MIB + 1), 5 * MIB],
        [sample.jpeg({ totalBytes: 20 * MIB }), 5 * MIB],
        [sample.isoMedia({ totalBytes: 16 * MIB + 1 }), 16 * MIB],
        [sample.pdf(32 * MIB + 1), 32 * MIB],
        [sample.pdf(40 * MIB), 32 * MIB],
      ] as const) {
        for (const fileFirst of [true, false]) {
          const response = await upload(stage.test, stage.sender, { file, fileFirst });
          expect(response.body.error.code).toBe('MEDIA_TOO_LARGE');
          expect(response.status).toBe(400);
          expect(response.body.error.limit_bytes).toBe(limit);
        }
      }
      await noTemporaryFiles(stage.test.dataDir);
    });

    it('takes a file of exactly the limit', async () => {
      const data = await uploaded(stage.test, stage.sender, {
        file: sample.pdf(32 * 1_048_576),
        fields: { type: 'document' },
      });
      expect(data.size_bytes).toBe(32 * 1_048_576);
    });
  });
});
