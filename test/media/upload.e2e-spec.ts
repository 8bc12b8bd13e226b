import { createHash } from 'node:crypto';
import { newId } from '../../src/common/ids.js';
import type { ApiBody } from '../support/api-client.js';
import { filesOf, noTemporaryFiles, refusal, upload, uploaded, uploadStage } from './fixture.js';
import * as sample from './samples.js';

describe('POST /media', () => {
  const stage = uploadStage();

  const rows = async (): Promise<number> =>
    Number((await stage.test.database.query<{ count: string }>('select count(*) from media_object'))[0]?.count);

  describe('201', () => {
    it('stores the bytes as they came, under a name of its own, and says what they are', async () => {
      const file = sample.pdf(100_000);
      const response = await upload(stage.test, stage.sender, { file, filename: 'Rechnung März.pdf' });
      expect(response.status).toBe(201);
      const { id, created_at: createdAt, ...data } = response.body.data;
      expect(data).toEqual({
        connection_id: stage.sender.connection.id,
        type: 'document',
        mime_type: 'application/pdf',
        size_bytes: 100_000,
        sha256: createHash('sha256').update(file).digest('hex'),
        filename: 'Rechnung März.pdf',
        voice: false,
        direction: 'outbound',
        status: 'stored',
        expires_at: null,
      });
      expect(Date.parse(createdAt as string)).toBeGreaterThan(Date.now() - 60_000);
      const [row] = await stage.test.database.query<{ storage_key: string }>(
        'select storage_key from media_object where id = $1',
        [id],
      );
      const key = row?.storage_key ?? '';
      expect(await filesOf(stage.test.dataDir)).toEqual([
        { path: `${key.slice(-2)}/${key.slice(-4, -2)}/${key}`, sizeBytes: 100_000, mode: 0o600 },
      ]);
    });

    it.each(sample.everyFormat())('takes $name', async ({ name, bytes, mimeType, type }) => {
      const data = await uploaded(stage.test, stage.sender, { file: bytes, filename: name, contentType: mimeType });
      expect(data).toMatchObject({ type, mime_type: mimeType, size_bytes: bytes.length, filename: name });
    });

    it('takes the file before the fields, and without a Content-Type', async () => {
      const file = sample.jpeg({ totalBytes: 300_000 });
      for (const fileFirst of [true, false]) {
        const data = await uploaded(stage.test, stage.sender, {
          file,
          fileFirst,
          fields: { type: 'image', voice: 'false' },
        });
        expect(data).toMatchObject({ type: 'image', size_bytes: 300_000 });
      }
    });

    it('takes a voice message', async () => {
      const data = await uploaded(stage.test, stage.sender, {
        file: sample.ogg(),
        fields: { voice: 'true', type: 'audio' },
      });
      expect(data).toMatchObject({ type: 'audio', voice: true, mime_type: 'audio/ogg; codecs=opus' });
    });

    it.each([
      ['../../etc/passwd', 'passwd'],
      ['C:\\Windows\\a.pdf', 'a.pdf'],
      ['../.git/...', null],
      ['a\u202Egpj.pdf', 'agpj.pdf'],
      ['U\u0308bung.pdf', 'Übung.pdf'],
      [`${'x'.repeat(300)}.pdf`, `${'x'.repeat(236)}.pdf`],
      ['"; rm -rf /.pdf', '.pdf'],
      ['你好 🎉.pdf', '你好 🎉.pdf'],
      ['a%22b.pdf', 'a"b.pdf'],
    ])('keeps the name %j as data only', async (filename, kept) => {
      const data = await uploaded(stage.test, stage.sender, { file: sample.pdf(), filename });
      expect(data.filename).toBe(kept);
    });
  });

  describe('400', () => {
    it.each([
      ['connection_id: required', { fields: { connection_id: '' } }],
      ['connection_id: format', { fields: { connection_id: 'not-a-uuid' } }],
      ['type: one_of', { fields: { type: 'movie' } }],
      ['voice: one_of', { fields: { voice: 'yes' } }],
      ['caption: unknown_field', { fields: { caption: 'x' } }],
      ['file: required', { file: null }],
      ['file: empty', { file: new Uint8Array() }],
      ['connection_id: limit_field_value', { fields: { connection_id: 'x'.repeat(300) } }],
    ])('INVALID_REQUEST: %s', async (field, options) => {
      const before = await rows();
      for (const fileFirst of [true, false]) {
        const response = await upload(stage.test, stage.sender, { file: sample.png(), fileFirst, ...options });
        expect(refusal(response)).toEqual({ status: 400, code: 'INVALID_REQUEST', fields: [field] });
      }
      expect(await rows()).toBe(before);
    });

    it('INVALID_REQUEST: a field twice, the file as text, the file under another name, two files', async () => {
      const post = async (build: (form: FormData) => void): Promise<Record<string, unknown>> => {
        const form = new FormData();
        form.append('connection_id', stage.sender.connection.id);
        build(form);
        const response = await fetch(`${stage.test.baseUrl}/api/v1/media`, {
          method: 'POST',
          headers: { authorization: `Bearer ${stage.sender.key.text}` },
          body: form,
        });
        const { status, headers } = response;
        return refusal({ status, headers, body: (await response.json()) as ApiBody });
      };
      const png = new Blob([new Uint8Array(sample.png())]);
      const invalid = (field: string): object => ({ status: 400, code: 'INVALID_REQUEST', fields: [field] });
      expect(
        await post((form) => {
          form.append('type', 'image');
          form.append('type', 'image');
          form.append('file', png, 'a.png');
        }),
      ).toEqual(invalid('type: repeated'));
      expect(await post((form) => form.append('file', 'text'))).toEqual(invalid('file: type'));
      expect(await post((form) => form.append('upload', png, 'a.png'))).toEqual(
        invalid('upload: limit_unexpected_file'),
      );
      expect(
        await post((form) => {
          form.append('file', png, 'a.png');
          form.append('file', png, 'b.png');
        }),
      ).toMatchObject({ status: 400, code: 'INVALID_REQUEST' });
    });

    it('MEDIA_TYPE_NOT_SUPPORTED names what the bytes are and what is taken', async () => {
      const response = await upload(stage.test, stage.sender, {
        file: Buffer.from('GIF89a'),
        fields: { type: 'image' },
      });
      expect(response.status).toBe(400);
      expect(response.body.error).toMatchObject({
        code: 'MEDIA_TYPE_NOT_SUPPORTED',
        detected_type: 'image/gif',
        allowed_types: ['image/jpeg', 'image/png'],
      });
    });

    it.each([
      ['another type than its bytes', { file: sample.pdf(), fields: { type: 'image' } }, 'application/pdf'],
      ['audio that is a video', { file: sample.isoMedia(), fields: { type: 'audio' } }, 'video/mp4'],
      ['a Content-Type that is not true', { file: sample.png(), contentType: 'image/jpeg' }, 'image/png'],
      ['a web page by its Content-Type', { file: sample.plain(), contentType: 'text/html' }, 'text/plain'],
      ['a voice message that is an MP3', { file: sample.mp3(), fields: { voice: 'true' } }, 'audio/mpeg'],
      ['a WebP as image', { file: sample.webp(), fields: { type: 'image' } }, 'image/webp'],
    ])('MEDIA_TYPE_NOT_SUPPORTED: %s, in any order of the fields', async (_name, options, detected) => {
      const before = await rows();
      for (const fileFirst of [true, false]) {
        const response = await upload(stage.test, stage.sender, { ...options, fileFirst });
        expect(refusal(response)).toMatchObject({ status: 400, code: 'MEDIA_TYPE_NOT_SUPPORTED' });
        expect(response.body.error.detected_type).toBe(detected);
      }
      expect(await rows()).toBe(before);
    });

    it('MEDIA_TOO_LARGE contains the limit of the type, and the caller can read it', async () => {
      const file = sample.png(5 * 1_048_576 + 1);
      for (const fileFirst of [true, false]) {
        const response = await upload(stage.test, stage.sender, { file, fileFirst });
        expect(response.body.error.code).toBe('MEDIA_TOO_LARGE');
        expect(response.status).toBe(400);
        expect(response.body.error.limit_bytes).toBe(5 * 1_048_576);
      }
      await noTemporaryFiles(stage.test.dataDir);
    });

    it('takes a file of exactly the limit', async () => {
      const data = await uploaded(stage.test, stage.sender, { file: sample.png(5 * 1_048_576) });
      expect(data.size_bytes).toBe(5 * 1_048_576);
    });
  });

  it('401 without a key, 403 without the scope', async () => {
    const options = { file: sample.png() };
    expect((await upload(stage.test, stage.sender, { ...options, key: null })).status).toBe(401);
    const reader = await stage.test.factories.apiKey({
      organizationId: stage.sender.workspace.id,
      scopes: ['media:read'],
    });
    const response = await upload(stage.test, stage.sender, { ...options, key: reader.text });
    expect(response.status).toBe(403);
    expect(response.body.error).toMatchObject({ code: 'SCOPE_REQUIRED', required_scope: 'media:write' });
  });

  it('404 for a connection that is foreign or none, alike, and stores nothing', async () => {
    const other = await stage.test.sender();
    const before = { rows: await rows(), files: (await filesOf(stage.test.dataDir)).length };
    const answers: unknown[] = [];
    for (const connectionId of [other.connection.id, newId()]) {
      for (const fileFirst of [true, false]) {
        const fields = { connection_id: connectionId };
        const { status, body } = await upload(stage.test, stage.sender, {
          file: sample.pdf(200_000),
          fileFirst,
          fields,
        });
        answers.push([status, { ...body.error, request_id: '' }]);
      }
    }
    expect(answers[0]).toMatchObject([404, { code: 'CONNECTION_NOT_FOUND' }]);
    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect({ rows: await rows(), files: (await filesOf(stage.test.dataDir)).length }).toEqual(before);
  });

  it('415 for another body than a form', async () => {
    for (const contentType of ['application/json', 'multipart/mixed; boundary=x', 'image/png']) {
      const { status, body } = await stage.sender.api.post('/media', '{}', {
        headers: { 'content-type': contentType },
      });
      expect([status, body.error.code, body.error.expected]).toEqual([
        415,
        'UNSUPPORTED_CONTENT_TYPE',
        'multipart/form-data',
      ]);
    }
  });
});
