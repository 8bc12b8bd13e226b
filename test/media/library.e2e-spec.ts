import { newId } from '../../src/common/ids.js';
import { MediaService } from '../../src/modules/media/media.service.js';
import type { MediaType, PendingMedia } from '../../src/modules/media/media.types.js';
import type { ApiBody, ApiResponse } from '../support/api-client.js';
import { startTestApp, type TestApp, type TestSender } from '../support/test-app.js';
import { addPending, filesOf, pending, refusal, uploaded } from './fixture.js';
import * as sample from './samples.js';

describe('the media library, and what other modules ask of it', () => {
  let test: TestApp;

  beforeAll(async () => {
    test = await startTestApp({ roles: ['api', 'simulator'] });
  });

  afterAll(() => test.stop());

  const createPending = (...items: PendingMedia[]): Promise<void> => addPending(test, items);

  describe('GET /media', () => {
    let sender: TestSender;
    const ids: string[] = [];

    beforeAll(async () => {
      sender = await test.sender();
      for (let n = 0; n < 4; n++) ids.push((await uploaded(test, sender, { file: sample.png() })).id as string);
      ids.push((await uploaded(test, sender, { file: sample.pdf() })).id as string);
      const inbound = [pending(sender), pending(sender, { type: 'document', mimeType: 'application/x-thing' })];
      await createPending(...inbound);
      // Several files of one moment: their ids break the tie.
      await test.database.execute(
        `update media_object set created_at = '2026-11-01T10:00:00.123Z' where id = any($1)`,
        [ids.slice(0, 3)],
      );
      ids.push(...inbound.map((item) => item.id));
    });

    const idsOf = (body: ApiBody): string[] => body.data.map((item: { id: string }) => item.id);

    it('pages through everything, newest first, each once', async () => {
      for (const limit of [1, 2, 3, 100]) {
        const seen: string[] = [];
        let cursor = '';
        do {
          const response: ApiResponse = await sender.api.get(`/media?limit=${limit}${cursor}`);
          expect(response.status).toBe(200);
          expect(response.body.data.length).toBeLessThanOrEqual(limit);
          seen.push(...idsOf(response.body));
          const { next_before: before, next_before_id: beforeId } = response.body.pagination;
          cursor = before === null ? '' : `&before=${before}&before_id=${beforeId}`;
        } while (cursor !== '');
        expect(seen).toHaveLength(ids.length);
        expect(new Set(seen)).toEqual(new Set(ids));
        expect(seen.slice(-3)).toEqual(ids.slice(0, 3).sort().toReversed());
      }
    });

    it('filters by type, direction and connection, together too', async () => {
      const list = async (query: string): Promise<number> => (await sender.api.get(`/media?${query}`)).body.data.length;
      expect(await list('type=image')).toBe(5);
      expect(await list('type=document')).toBe(2);
      expect(await list('type=sticker')).toBe(0);
      expect(await list('direction=inbound')).toBe(2);
      expect(await list('direction=inbound&type=image')).toBe(1);
      expect(await list(`connection_id=${sender.connection.id}&direction=outbound`)).toBe(5);
      expect(await list('type=image&limit=2')).toBe(2);
      expect(await list('before=2026-11-01T10:00:00.124Z')).toBe(3);
      expect(await list('before=2026-11-01T10:00:00.123Z&type=image')).toBe(0);
    });

    it('distinguishes the numbers of a workspace', async () => {
      const owner = await test.sender();
      const second = await test.factories.connection({ organizationId: owner.workspace.id });
      const first = await uploaded(test, owner, { file: sample.png() });
      const other = await uploaded(test, { ...owner, connection: second }, { file: sample.png() });
      expect(other.connection_id).toBe(second.id);
      const listed = async (query: string): Promise<string[]> => idsOf((await owner.api.get(`/media?${query}`)).body);
      expect(await listed('')).toEqual([other.id, first.id]);
      expect(await listed(`connection_id=${second.id}`)).toEqual([other.id]);
      expect(await listed(`connection_id=${owner.connection.id}&type=image`)).toEqual([first.id]);
    });

    it('shows a file that is still to come', async () => {
      const { body } = await sender.api.get('/media?direction=inbound&type=document');
      expect(body.data[0]).toMatchObject({
        size_bytes: null,
        sha256: null,
        mime_type: 'application/x-thing',
        direction: 'inbound',
      });
    });

    it('shows nothing of another workspace', async () => {
      const other = await test.sender();
      expect((await other.api.get('/media')).body).toEqual({
        data: [],
        pagination: { next_before: null, next_before_id: null },
      });
      const { status, body } = await other.api.get(`/media?connection_id=${sender.connection.id}`);
      expect([status, body.error.code]).toEqual([404, 'CONNECTION_NOT_FOUND']);
    });

    it.each([
      ['limit=0', 'limit: range'],
      ['limit=101', 'limit: range'],
      ['limit=x', 'limit: type'],
      ['before=yesterday', 'before: format'],
      ['before=2026-325T10:00:00Z', 'before: format'],
      ['before=2026-11-21T10:00:00,5Z', 'before: format'],
      ['before_id=x&before=2026-11-01T10:00:00Z', 'before_id: format'],
      [`before_id=${newId()}`, 'before_id: requires_before'],
      ['connection_id=x', 'connection_id: format'],
      ['type=movie', 'type: one_of'],
      ['direction=up', 'direction: one_of'],
      ['type=image&type=video', 'type: repeated'],
    ])('400 for %s', async (query, field) => {
      const response = await sender.api.get(`/media?${query}`);
      expect(refusal(response)).toEqual({ status: 400, code: 'INVALID_REQUEST', fields: [field] });
    });
  });

  describe('GET /media/{id}/url and the link', () => {
    let sender: TestSender;
    const file = sample.pdf(50_000);
    let url: string;

    beforeAll(async () => {
      sender = await test.sender();
      const { id } = await uploaded(test, sender, { file, filename: 'Übung "1".pdf' });
      const { status, body } = await sender.api.get(`/media/${id}/url`);
      expect(status).toBe(200);
      url = body.data.url as string;
      expect(url.startsWith(`${test.baseUrl}/media/${id}/content?`)).toBe(true);
      const left = Date.parse(body.data.expires_at as string) - Date.now();
      expect(left).toBeGreaterThan(14 * 60_000);
      expect(left).toBeLessThanOrEqual(15 * 60_000);
    });

    it('serves the bytes to every client that has it, as a download that no browser runs', async () => {
      const response = await fetch(url);
      expect(response.status).toBe(200);
      expect(Buffer.from(await response.arrayBuffer()).equals(file)).toBe(true);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': 'application/pdf',
        'content-length': '50000',
        'content-disposition': `attachment; filename="_bung _1_.pdf"; filename*=UTF-8''%C3%9Cbung%20%221%22.pdf`,
        'x-content-type-options': 'nosniff',
        'content-security-policy': "default-src 'none'; sandbox",
        'cross-origin-resource-policy': 'cross-origin',
        'cache-control': 'private, no-store',
        'accept-ranges': 'bytes',
      });
    });

    it('has the ending of the type that the bytes have, whatever the file was called', async () => {
      const { id } = await uploaded(test, sender, { file: sample.png(), filename: 'a.html', contentType: 'image/png' });
      const { body } = await sender.api.get(`/media/${id}/url`);
      const response = await fetch(body.data.url as string);
      expect(response.headers.get('content-disposition')).toBe(
        `attachment; filename="a.html.png"; filename*=UTF-8''a.html.png`,
      );
      await response.arrayBuffer();
    });

    it.each([
      { name: 'a picture', bytes: sample.png(), contentType: 'image/png', shown: true },
      { name: 'a PDF', bytes: sample.pdf(), contentType: 'application/pdf', shown: true },
      {
        name: 'a text, which a browser may take for a page,',
        bytes: Buffer.from('hello'),
        contentType: 'text/plain',
        shown: false,
      },
    ])('shows $name by a link that is made for it: $shown', async ({ bytes, contentType, shown }) => {
      const { id } = await uploaded(test, sender, { file: bytes, filename: 'a', contentType });
      const { body } = await sender.api.get(`/media/${id}/url?disposition=inline`);
      const response = await fetch(body.data.url as string);
      expect(response.status).toBe(200);
      expect(response.headers.get('content-disposition')).toMatch(shown ? /^inline; filename="a\./ : /^attachment; /);
      expect(response.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox");
      expect(response.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
      await response.arrayBuffer();
      expect((await sender.api.get(`/media/${id}/url?disposition=page`)).status).toBe(400);
    });

    it('answers HEAD', async () => {
      const response = await fetch(url, { method: 'HEAD' });
      expect([response.status, response.headers.get('content-length')]).toEqual([200, '50000']);
      expect(await response.text()).toBe('');
    });

    it('answers 304 to who has the file already, and 403 where the link is no good', async () => {
      const etag = (await fetch(url, { method: 'HEAD' })).headers.get('etag') ?? '';
      const asked = async (match: string, more: RequestInit = {}, address = url) => {
        const response = await fetch(address, { ...more, headers: { 'if-none-match': match, range: 'bytes=0-9' } });
        const { length } = Buffer.from(await response.arrayBuffer());
        return [response.status, length, response.headers.get('etag')];
      };
      for (const match of [etag, `W/${etag}`, `"other", ${etag}`, '*'])
        expect(await asked(match)).toEqual([304, 0, etag]);
      expect(await asked(etag, { method: 'HEAD' })).toEqual([304, 0, etag]);
      expect(await asked('"other"')).toEqual([206, 10, etag]);
      expect((await asked(etag, {}, `${url}&x=1`))[0]).toBe(403);
    });

    it('gives ranges', async () => {
      const part = async (range: string, more: Record<string, string> = {}) => {
        const response = await fetch(url, { headers: { range, ...more } });
        const bytes = Buffer.from(await response.arrayBuffer());
        return { status: response.status, range: response.headers.get('content-range'), bytes };
      };
      expect(await part('bytes=0-9')).toEqual({ status: 206, range: 'bytes 0-9/50000', bytes: file.subarray(0, 10) });
      expect(await part('bytes=-6')).toEqual({
        status: 206,
        range: 'bytes 49994-49999/50000',
        bytes: file.subarray(-6),
      });
      expect(await part('bytes=50000-')).toEqual({ status: 416, range: 'bytes */50000', bytes: Buffer.alloc(0) });
      expect(await part('bytes=0-1,5-6')).toEqual({ status: 200, range: null, bytes: file });
      expect((await part('bytes=0-9', { 'if-range': '"another"' })).status).toBe(200);
      const etag = (await fetch(url, { method: 'HEAD' })).headers.get('etag') ?? '';
      expect((await part('bytes=0-9', { 'if-range': etag })).status).toBe(206);
    });

    it('403 where it was changed or has more parameters, 405 for other methods', async () => {
      for (const changed of [
        `${url}&x=1`,
        url.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A')),
        url.split('?')[0] ?? '',
      ]) {
        const response = await fetch(changed);
        const { error } = (await response.json()) as ApiBody;
        expect([response.status, error.code]).toEqual([403, 'MEDIA_LINK_INVALID']);
      }
      expect((await fetch(url, { method: 'POST' })).status).toBe(405);
      expect((await fetch(url, { method: 'DELETE' })).status).toBe(405);
    });

    it('404 for what is foreign or none, alike to the byte; 409 while it is fetched; 400 for what is no id', async () => {
      const other = await test.sender();
      const foreign = (await uploaded(test, other, { file: sample.png() })).id as string;
      const toCome = pending(sender);
      await createPending(toCome);
      const answers: unknown[] = [];
      for (const id of [newId(), foreign]) {
        const { status, body } = await sender.api.get(`/media/${id}/url`);
        answers.push([status, { ...body.error, request_id: '' }]);
      }
      expect(answers[0]).toMatchObject([404, { code: 'MEDIA_NOT_FOUND' }]);
      expect(answers[1]).toEqual(answers[0]);
      const { status, body, headers } = await sender.api.get(`/media/${toCome.id}/url`);
      expect([status, body.error.code]).toEqual([409, 'MEDIA_PENDING']);
      expect(Number(headers.get('retry-after'))).toBe(body.error.retry_after_seconds);
      await test.database.execute(`update media_object set status = 'failed' where id = $1`, [toCome.id]);
      expect(refusal(await sender.api.get(`/media/${toCome.id}/url`))).toMatchObject({ status: 404 });
      expect(refusal(await sender.api.get('/media/none/url'))).toMatchObject({ status: 400, fields: ['id: format'] });
    });
  });

  describe('GET /media/{id}', () => {
    it('shows the file as the list does, with its status; 404 for what is foreign or none, 400 for what is no id', async () => {
      const [sender, other] = [await test.sender(), await test.sender()];
      const { id } = await uploaded(test, sender, { file: sample.png() });
      const { body } = await sender.api.get(`/media/${id}`);
      expect(body.data).toMatchObject({ id, status: 'stored', mime_type: 'image/png' });
      expect((await sender.api.get('/media')).body.data).toEqual([body.data]);
      const toCome = pending(sender);
      await createPending(toCome);
      expect((await sender.api.get(`/media/${toCome.id}`)).body.data).toMatchObject({ status: 'pending' });
      for (const [api, path] of [
        [other.api, id],
        [sender.api, newId()],
      ] as const) {
        expect(refusal(await api.get(`/media/${path}`))).toMatchObject({ status: 404, code: 'MEDIA_NOT_FOUND' });
      }
      expect((await sender.api.get('/media/none')).status).toBe(400);
    });

    it('needs media:read', async () => {
      const sender = await test.sender({ scopes: ['media:write'] });
      expect((await sender.api.get(`/media/${newId()}`)).status).toBe(403);
    });
  });

  describe('DELETE /media/{id}', () => {
    it('204: removes the row, the bytes and every link', async () => {
      const sender = await test.sender();
      const before = await filesOf(test.dataDir);
      const { id } = await uploaded(test, sender, { file: sample.png() });
      const { url } = (await sender.api.get(`/media/${id}/url`)).body.data as { url: string };
      const response = await sender.api.request({ method: 'DELETE', path: `/media/${id}` });
      expect([response.status, response.body]).toEqual([204, null]);
      expect(await filesOf(test.dataDir)).toEqual(before);
      expect((await fetch(url)).status).toBe(404);
      expect((await sender.api.get('/media')).body.data).toEqual([]);
      expect((await sender.api.request({ method: 'DELETE', path: `/media/${id}` })).status).toBe(404);
    });

    it('404 for what is foreign, which stays; 400 for what is no id', async () => {
      const [owner, other] = [await test.sender(), await test.sender()];
      const { id } = await uploaded(test, owner, { file: sample.png() });
      const answers: unknown[] = [];
      for (const path of [`/media/${id}`, `/media/${newId()}`]) {
        const { status, body } = await other.api.request({ method: 'DELETE', path });
        answers.push([status, { ...body.error, request_id: '' }]);
      }
      expect(answers[0]).toMatchObject([404, { code: 'MEDIA_NOT_FOUND' }]);
      expect(answers[1]).toEqual(answers[0]);
      expect((await owner.api.get(`/media/${id}/url`)).status).toBe(200);
      expect((await owner.api.request({ method: 'DELETE', path: '/media/none' })).status).toBe(400);
    });

    it('needs media:write', async () => {
      const sender = await test.sender({ scopes: ['media:read'] });
      const { status, body } = await sender.api.request({ method: 'DELETE', path: `/media/${newId()}` });
      expect([status, body.error.required_scope]).toEqual([403, 'media:write']);
    });
  });

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
