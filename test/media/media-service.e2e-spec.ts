import { newId } from '../../src/common/ids.js';
import { MediaService } from '../../src/modules/media/media.service.js';
import type { MediaType, PendingMedia } from '../../src/modules/media/media.types.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { addPending, pending, uploaded } from './fixture.js';
import * as sample from './samples.js';

describe('what other rooms ask of media', () => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startTestApp({ roles: ['api', 'simulator'] });
  });

  afterAll(() => test.stop());

  const createPending = (...items: PendingMedia[]): Promise<void> => addPending(test, items);

  describe('MediaService.requireForSending', () => {
    const codeOf = (work: Promise<unknown>): Promise<unknown> =>
      work.then(
        () => 'taken',
        (error: { code: string; status: number; extra: object }) => [error.status, error.code, error.extra],
      );

    it('finds our file of the type, and refuses all others with 422', async () => {
      const [sender, other] = [await test.sender(), await test.sender()];
      const media = test.app.get(MediaService);
      const { id } = await uploaded(test, sender, { file: sample.png() });
      const find = (organizationId: string, mediaId: string, type: MediaType): Promise<unknown> =>
        codeOf(media.requireForSending(organizationId, mediaId, type));
      expect(await find(sender.workspace.id, id as string, 'image')).toBe('taken');
      expect(await find(sender.workspace.id, id as string, 'video')).toEqual([
        422,
        'MEDIA_TYPE_MISMATCH',
        { expected: 'video', given: 'image' },
      ]);
      const toCome = pending(sender);
      await createPending(toCome);
      for (const [organizationId, mediaId] of [
        [other.workspace.id, id as string],
        [sender.workspace.id, newId()],
        [sender.workspace.id, toCome.id],
      ] as const) {
        expect(await find(organizationId, mediaId, 'image')).toEqual([422, 'MEDIA_NOT_FOUND', {}]);
      }
    });
  });

  describe('MediaService.createPending', () => {
    it('stores whatever the platform says as harmless data, each file once', async () => {
      const sender = await test.sender();
      const digest = Buffer.alloc(32, 7);
      const items = [
        pending(sender, { sha256: digest.toString('base64'), filename: '../a\u0000\u202Eb.pdf', mimeType: 'x\ny' }),
        pending(sender, { sha256: 'none', mimeType: null, filename: 'z'.repeat(900), type: 'audio', voice: true }),
      ];
      await createPending(...items, ...items);
      await createPending(...items);
      await createPending();
      const { body } = await sender.api.get('/media');
      const [first, second] = items.map(({ id }) => body.data.find((item: { id: string }) => item.id === id));
      expect(body.data).toHaveLength(2);
      expect(first).toMatchObject({
        sha256: digest.toString('hex'),
        filename: 'ab.pdf',
        mime_type: 'application/octet-stream',
      });
      expect(second).toMatchObject({ sha256: null, voice: true, mime_type: 'application/octet-stream' });
      expect(second.filename).toHaveLength(240);
    });
  });
});
