import { newId } from '../../src/common/ids.js';
import { MediaService } from '../../src/modules/media/media.service.js';
import { MediaTransferService } from '../../src/modules/media/media-transfer.service.js';
import type { MediaType } from '../../src/modules/media/media.types.js';
import { testPhone } from '../support/factories.js';
import { SimulatorClient } from '../support/simulator/simulator-client.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { watchTries } from '../support/watch-tries.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { approvedTemplate, templateBody } from './platform-templates.js';
import { storedFile } from './stored-files.js';
import { reportedFailed } from '../support/reported-failed.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({
    env: { MEDIA_MIN_FREE_MIB: '0' },
    simulator: { templateReviewMs: 20, statusGapMs: 20 },
  });
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());

const mediaBody = (type: string, media: object, more: object = {}) => ({ type, text: undefined, media, ...more });

/** Sends what must be taken; returns the message's id. */
async function sent(to: string, body: Record<string, unknown>): Promise<string> {
  const response = await workspace.send(to, { body });
  expect([response.status, response.body.error]).toEqual([202, undefined]);
  return response.body.data.id as string;
}

/** What the platform took for a recipient, last. */
function takenBy(to: string): Record<string, Record<string, unknown>> {
  return test.simulator.messages.list({ to }).at(-1)?.body as Record<string, Record<string, unknown>>;
}

async function platformIds(fileId: string): Promise<string[]> {
  const rows = await test.database.query<{ platform_media_id: string }>(
    'select platform_media_id from media_platform_id where media_object_id = $1',
    [fileId],
  );
  return rows.map((row) => row.platform_media_id);
}

const DIGITS = /^\d+$/;

describe('a file of ours', () => {
  it.each(['image', 'video', 'audio', 'document', 'sticker'] as const)(
    'is sent as %s, by media.id or media_object_id; it is uploaded once',
    async (type) => {
      const [to, other] = [await workspace.contact(), await workspace.contact()];
      const file = await storedFile(test, workspace, type);
      const [byId, byObject] = [
        await sent(to, mediaBody(type, { id: file.toUpperCase() })),
        await sent(other, mediaBody(type, {}, { media_object_id: file })),
      ];
      for (const id of [byId, byObject]) {
        expect(await workspace.reaches(id, 'read')).toMatchObject({
          type,
          media_object_id: file,
          content: { id: file },
          attempt_count: 1,
        });
      }
      const [platformId, ...others] = await platformIds(file);
      expect(others).toEqual([]);
      expect(platformId).toMatch(DIGITS);
      for (const phone of [to, other]) expect(takenBy(phone)[type]).toEqual({ id: platformId });
    },
  );

  it.each<[string, MediaType, Record<string, unknown>, Record<string, unknown>, Record<string, unknown>]>([
    ['its own name', 'document', { filename: 'bill.pdf' }, {}, { filename: 'bill.pdf' }],
    ['the name that is asked for', 'document', { filename: 'bill.pdf' }, { filename: 'b.pdf' }, { filename: 'b.pdf' }],
    ['no name where none is known', 'document', {}, {}, {}],
    ['its own voice', 'audio', { voice: true }, {}, { voice: true }],
    ['no voice where that is asked for', 'audio', { voice: true }, { voice: false }, { voice: false }],
    ['a voice that is asked for', 'audio', {}, { voice: true }, { voice: true }],
    ['no name as an image', 'image', { filename: 'a.png' }, { caption: 'see' }, { caption: 'see' }],
  ])('goes with %s', async (_name, type, values, asked, expected) => {
    const to = await workspace.contact();
    const file = await storedFile(test, workspace, type, values);
    const id = await sent(to, mediaBody(type, { id: file, ...asked }));
    expect(await workspace.reaches(id, 'read')).toMatchObject({ content: { id: file, ...expected } });
    expect(takenBy(to)[type]).toEqual({ id: expect.stringMatching(DIGITS) as string, ...expected });
  });

  it.each<MediaType>(['audio', 'sticker'])('keeps the caption of %s, which WhatsApp does not show', async (type) => {
    const to = await workspace.contact();
    const file = await storedFile(test, workspace, type);
    const id = await sent(to, mediaBody(type, { id: file, caption: 'see' }));
    const kept = await workspace.reaches(id, 'read');
    expect(kept).toMatchObject({ body: 'see', content: { id: file, caption: 'see' } });
    expect(takenBy(to)[type]).not.toHaveProperty('caption');
  });

  it('may be named by any message without being part of it', async () => {
    const to = await workspace.contact();
    const file = await storedFile(test, workspace, 'image');
    const id = await sent(to, { media_object_id: file });
    expect(await workspace.reaches(id, 'read')).toMatchObject({ type: 'text', media_object_id: file });
    expect(await platformIds(file)).toEqual([]);
  });

  it('leads to the messages that use it', async () => {
    const own = await sendingWorkspace(test);
    const [to, other] = [await own.contact(), await own.contact()];
    const [file, unused] = [await storedFile(test, own, 'image'), await storedFile(test, own, 'image')];
    const ids: string[] = [];
    for (const recipient of [to, other]) {
      const { body } = await own.send(recipient, { body: { media_object_id: file } });
      ids.push((body.data as unknown as { id: string }).id);
    }
    await own.sendText(to);
    for (const id of ids) await own.reaches(id, 'read');
    const listed = async (api: SendingWorkspace['api'], query: string): Promise<string[]> => {
      const { body } = await api.get(`/messages?media_object_id=${query}`);
      return (body.data as unknown as { id: string }[]).map(({ id }) => id);
    };
    expect(await listed(own.api, file)).toEqual(ids.toReversed());
    expect(await listed(own.api, `${file.toUpperCase()}&status=read&to=${to}`)).toEqual([ids[0]]);
    expect(await listed(own.api, `${file}&tag=none`)).toEqual([]);
    expect(await listed(own.api, unused)).toEqual([]);
    expect(await listed(workspace.api, file)).toEqual([]);
  });

  it('is in the header of an interactive message', async () => {
    const to = await workspace.contact();
    const file = await storedFile(test, workspace, 'document', { filename: 'menu.pdf' });
    const interactive = {
      type: 'button',
      header: { type: 'document', document: { id: file } },
      body: { text: 'Choose' },
      action: { buttons: [{ type: 'reply', reply: { id: 'a', title: 'A' } }] },
    };
    const id = await sent(to, { type: 'interactive', text: undefined, interactive });
    expect(await workspace.reaches(id, 'read')).toMatchObject({ media_object_id: file });
    const [platformId] = await platformIds(file);
    expect(takenBy(to).interactive?.header).toEqual({
      type: 'document',
      document: { id: platformId, filename: 'menu.pdf' },
    });
  });
});

describe('a carousel', () => {
  const card = (index: number, header: object) => ({
    card_index: index,
    type: 'cta_url',
    header,
    action: { name: 'cta_url', parameters: { display_text: 'Open', url: 'https://example.com' } },
  });
  const body = (...headers: object[]) => ({
    type: 'interactive',
    text: undefined,
    interactive: {
      type: 'carousel',
      body: { text: 'Look' },
      action: { cards: headers.map((header, i) => card(i, header)) },
    },
  });

  it('shows files of ours on its cards', async () => {
    const to = await workspace.contact();
    const [image, video] = [await storedFile(test, workspace, 'image'), await storedFile(test, workspace, 'video')];
    const id = await sent(
      to,
      body({ type: 'image', image: { id: image } }, { type: 'video', video: { id: video.toUpperCase() } }),
    );
    const message = await workspace.reaches(id, 'read');
    expect(message).toMatchObject({ media_object_id: image, content: { type: 'carousel' } });
    const [[imageId], [videoId]] = [await platformIds(image), await platformIds(video)];
    expect(takenBy(to).interactive?.action).toMatchObject({
      cards: [{ header: { image: { id: imageId } } }, { header: { video: { id: videoId } } }],
    });
  });

  it('is refused with another workspace’s file on a card, and with a file of another kind', async () => {
    const to = await workspace.contact();
    const [own, foreign] = [
      await storedFile(test, workspace, 'image'),
      await storedFile(test, await sendingWorkspace(test), 'image'),
    ];
    const refusal = async (header: object) => {
      const response = await workspace.send(to, { body: body({ type: 'image', image: { id: own } }, header) });
      return [response.status, response.body.error?.code];
    };
    expect(await refusal({ type: 'image', image: { id: foreign } })).toEqual([422, 'MEDIA_NOT_FOUND']);
    expect(await refusal({ type: 'video', video: { id: own } })).toEqual([422, 'MEDIA_TYPE_MISMATCH']);
  });
});

describe('422', () => {
  it.each<[string, () => Promise<string>]>([
    ['is unknown', () => Promise.resolve(newId())],
    ['is another workspace’s', async () => storedFile(test, await sendingWorkspace(test), 'image')],
    ['is not fetched yet', () => storedFile(test, workspace, 'image', { status: 'pending' })],
  ])('MEDIA_NOT_FOUND for a file that %s', async (_name, make) => {
    const file = await make();
    for (const body of [mediaBody('image', { id: file }), mediaBody('image', {}, { media_object_id: file })]) {
      const response = await workspace.send(await workspace.contact(), { body });
      expect([response.status, response.body.error.code]).toEqual([422, 'MEDIA_NOT_FOUND']);
    }
  });

  it('MEDIA_TYPE_MISMATCH for a file of another type', async () => {
    const file = await storedFile(test, workspace, 'image');
    const response = await workspace.send(await workspace.contact(), { body: mediaBody('document', { id: file }) });
    expect([response.status, response.body.error]).toEqual([
      422,
      expect.objectContaining({ code: 'MEDIA_TYPE_MISMATCH', expected: 'document', given: 'image' }),
    ]);
  });

  it('answers a foreign file like an unknown one', async () => {
    const foreign = await storedFile(test, await sendingWorkspace(test), 'image');
    const bodies = await Promise.all(
      [foreign, newId()].map(
        async (id) => (await workspace.send(await workspace.contact(), { body: { media_object_id: id } })).body.error,
      ),
    );
    const [one, other] = bodies.map((error) => ({ ...error, request_id: '' }));
    expect(one).toEqual(other);
    expect(one?.code).toBe('MEDIA_NOT_FOUND');
  });
});

describe('the header of a template', () => {
  const header = (id: string) => ({ type: 'header', parameters: [{ type: 'image', image: { id } }] });
  const on = (fields: object) => ({ type: 'header', parameters: [{ type: 'image', ...fields }] });

  beforeAll(async () => {
    await approvedTemplate(test, workspace, {
      name: 'with_image',
      components: [
        { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['4::aW1hZ2UvcG5n:ARZ'] } },
        { type: 'BODY', text: 'Look at this.' },
      ],
    });
  });

  it.each<[string, (file: string) => Record<string, unknown>]>([
    ['media_object_id', (file) => templateBody('with_image', undefined, { media_object_id: file })],
    ['its own parameter', (file) => templateBody('with_image', [header(file)])],
    ['both alike', (file) => templateBody('with_image', [header(file)], { media_object_id: file.toUpperCase() })],
    ['media_object_id on its parameter', (file) => templateBody('with_image', [on({ media_object_id: file })])],
    ['media_object_id in its image', (file) => templateBody('with_image', [on({ image: { media_object_id: file } })])],
    [
      'media_object_id in two places alike',
      (file) =>
        templateBody('with_image', [on({ media_object_id: file, image: { id: file } })], { media_object_id: file }),
    ],
  ])('shows a file of ours, by %s', async (_name, bodyOf) => {
    const to = testPhone();
    const file = await storedFile(test, workspace, 'image');
    const id = await sent(to, bodyOf(file));
    expect(await workspace.reaches(id, 'read')).toMatchObject({
      body: 'Look at this.',
      media_object_id: file,
      content: { components: [header(file)] },
    });
    const [platformId] = await platformIds(file);
    expect(takenBy(to).template?.components).toEqual([header(platformId ?? '')]);
  });

  it('shows the same file after a retry', async () => {
    const to = testPhone();
    const file = await storedFile(test, workspace, 'image');
    const id = await sent(to, templateBody('with_image', undefined, { media_object_id: file }));
    await workspace.reaches(id, 'read');
    await reportedFailed(test.database, id);
    const retry = await workspace.api.post(`/messages/${id}/retry`);
    expect([retry.status, retry.body.error]).toEqual([202, undefined]);
    expect(await workspace.reaches(id, 'read')).toMatchObject({ media_object_id: file, body: 'Look at this.' });
    const [first, second] = test.simulator.messages
      .list({ to })
      .map(({ body }) => (body as { template: object }).template);
    expect(second).toEqual(first);
  });

  it('with one file in two places that differ is refused', async () => {
    const [file, other] = [await storedFile(test, workspace, 'image'), await storedFile(test, workspace, 'image')];
    const response = await workspace.send(testPhone(), {
      body: templateBody('with_image', [header(other)], { media_object_id: file }),
    });
    expect([response.status, response.body.error.code, response.body.error.details]).toEqual([
      422,
      'VALIDATION_FAILED',
      [expect.objectContaining({ field: 'media_object_id', rule: 'equal' })],
    ]);
  });

  it('is named by the template', async () => {
    const { body } = await workspace.api.get(`/connections/${workspace.connection.id}/templates/with_image`);
    const [version] = (body.data as { versions: Record<string, unknown>[] }).versions;
    expect(version?.header_media).toEqual({ type: 'image' });
    await approvedTemplate(test, workspace, {
      name: 'no_media',
      components: [{ type: 'BODY', text: 'Look at this.' }],
    });
    const other = await workspace.api.get(`/connections/${workspace.connection.id}/templates/no_media`);
    expect((other.body.data as { versions: Record<string, unknown>[] }).versions[0]?.header_media).toBeNull();
  });

  it('with a file of another type is refused', async () => {
    const file = await storedFile(test, workspace, 'document');
    const response = await workspace.send(testPhone(), {
      body: templateBody('with_image', undefined, { media_object_id: file }),
    });
    expect([response.status, response.body.error.code]).toEqual([422, 'MEDIA_TYPE_MISMATCH']);
  });

  it('without a file is refused', async () => {
    const response = await workspace.send(testPhone(), { body: templateBody('with_image') });
    expect([response.status, response.body.error.code]).toEqual([422, 'TEMPLATE_PARAMETERS_MISMATCH']);
  });
});

describe('when a message’s turn comes', () => {
  /** The next message to this contact waits until `release`, since the upload for this one takes its time. */
  async function busyContact(): Promise<{ to: string; release: () => void }> {
    const to = await workspace.contact();
    const file = await storedFile(test, workspace, 'image');
    const transfer = test.app.get(MediaTransferService, { strict: false });
    const real = transfer.platformIdFor.bind(transfer);
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    transfer.platformIdFor = async (connection, id, notAfter) => {
      if (id === file) await released;
      return real(connection, id, notAfter);
    };
    await sent(to, mediaBody('image', { id: file }));
    return {
      to,
      release: () => {
        transfer.platformIdFor = real;
        release();
      },
    };
  }

  it('a file that was deleted meanwhile fails it with media_error; a retry says that it is gone', async () => {
    const { to, release } = await busyContact();
    const file = await storedFile(test, workspace, 'image');
    const id = await sent(to, mediaBody('image', { id: file }));
    await test.app.get(MediaService, { strict: false }).delete(workspace.organizationId, file);
    release();
    expect(await workspace.reaches(id, 'failed')).toMatchObject({
      failure_category: 'media_error',
      attempts: [{ status: 'rejected', http_status: null, failure_category: 'media_error' }],
    });
    expect(test.simulator.messages.list({ to })).toHaveLength(1);
    const retry = await workspace.api.post(`/messages/${id}/retry`);
    expect([retry.status, retry.body.error.code]).toEqual([409, 'MEDIA_NOT_FOUND']);
  });

  it('a file that the platform does not take fails it with media_error', async () => {
    const file = await storedFile(test, workspace, 'image', { mimeType: 'image/tiff' });
    const id = await sent(await workspace.contact(), mediaBody('image', { id: file }));
    expect(await workspace.reaches(id, 'failed')).toMatchObject({ failure_category: 'media_error' });
  });

  it('a file that the platform has forgotten is uploaded again, and the message goes once, in one attempt', async () => {
    const [first, second] = [await workspace.contact(), await workspace.contact()];
    const file = await storedFile(test, workspace, 'image');
    await workspace.reaches(await sent(first, mediaBody('image', { id: file })), 'read');
    const [forgotten = ''] = await platformIds(file);
    const client = new SimulatorClient(test.simulatorUrl ?? '', workspace.connection.phoneNumberId);
    expect((await client.call('DELETE', `/v26.0/${forgotten}`)).status).toBe(200);

    const id = await sent(second, mediaBody('image', { id: file }));
    expect(await workspace.reaches(id, 'read')).toMatchObject({
      attempt_count: 1,
      attempts: [{ status: 'accepted', platform_code: null }],
    });
    const [renewed] = await platformIds(file);
    expect(renewed).not.toBe(forgotten);
    expect(test.simulator.messages.list({ to: second })).toHaveLength(1);
    expect(takenBy(second).image).toEqual({ id: renewed });
  });

  it('a platform id that is not ours is refused by the platform, and never tried twice', async () => {
    const to = await workspace.contact();
    const id = await sent(to, mediaBody('image', { id: '1999999999999999' }));
    expect(await workspace.reaches(id, 'failed')).toMatchObject({
      attempt_count: 1,
      media_object_id: null,
      error: { code: '131009' },
    });
  });

  it('a file that the platform refuses again and again fails it with media_error, after two tries', async () => {
    const file = await storedFile(test, workspace, 'image');
    const transfer = test.app.get(MediaTransferService, { strict: false });
    const real = transfer.platformIdFor.bind(transfer);
    let asked = 0;
    transfer.platformIdFor = (connection, id, notAfter) => {
      if (id !== file) return real(connection, id, notAfter);
      asked++;
      return Promise.resolve({ kind: 'ready', platformMediaId: `188888888888888${asked}` });
    };
    try {
      const id = await sent(await workspace.contact(), mediaBody('image', { id: file }));
      expect(await workspace.reaches(id, 'failed')).toMatchObject({
        failure_category: 'media_error',
        attempt_count: 1,
        error: { code: '131009' },
      });
      expect(asked).toBe(2);
    } finally {
      transfer.platformIdFor = real;
    }
  });

  it('an upload that takes its time costs no try; the message goes when it is done', async () => {
    const to = await workspace.contact();
    const file = await storedFile(test, workspace, 'image');
    const transfer = test.app.get(MediaTransferService, { strict: false });
    const real = transfer.platformIdFor.bind(transfer);
    let asked = 0;
    transfer.platformIdFor = (connection, id, notAfter) => {
      if (id === file && ++asked < 3) return Promise.resolve({ kind: 'later', retryInMs: 50 });
      return real(connection, id, notAfter);
    };
    const triesOf = await watchTries(test.database);
    try {
      const id = await sent(to, mediaBody('image', { id: file }));
      const message = await workspace.reaches(id, 'read');
      expect(message.attempts.map((attempt: { status: string }) => attempt.status)).toEqual([
        'deferred',
        'deferred',
        'accepted',
      ]);
      expect(await triesOf(id)).toBe(0);
      expect(test.simulator.messages.list({ to })).toHaveLength(1);
    } finally {
      transfer.platformIdFor = real;
    }
  });
});
