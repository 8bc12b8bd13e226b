import { Deadline } from '../../../common/deadline.js';
import type { NotAcceptedOutcome, SendOutcome } from '../../../infrastructure/whatsapp/outcome.js';
import type { SendingConnection } from '../../connections/connections.types.js';
import type { MediaTransferService } from '../../media/media-transfer.service.js';
import type { PlatformId } from '../../media/media.types.js';
import { FileExchange } from './file-exchange.js';
import { refusal } from '../outcome/outcome.repository.js';

const A = '01936f6e-aaaa-7c3d-9e4f-5a6b7c8d9e0f';
const B = '01936f6e-bbbb-7c3d-9e4f-5a6b7c8d9e0f';
const SOON = Deadline.in(1_000);
const CONNECTION = { id: 'connection-1' } as SendingConnection;

const ready = (platformMediaId: string): PlatformId => ({ kind: 'ready', platformMediaId });
const later = (retryInMs: number): PlatformId => ({ kind: 'later', retryInMs });

function task(...ids: string[]) {
  const parameters = ids.map((id) => ({ type: 'image', image: { id } }));
  return { type: 'template', content: { components: [{ type: 'header', parameters }] }, attemptNumber: 1 };
}

function exchangeWith(answers: Record<string, PlatformId>, forgotten: string[] = []) {
  const asked: unknown[] = [];
  const transfer: Pick<MediaTransferService, 'platformIdFor' | 'forget'> = {
    platformIdFor: (_connection, id, notAfter) => {
      asked.push([id, notAfter]);
      return Promise.resolve(answers[id] ?? { kind: 'failed', message: 'gone' });
    },
    forget: (connectionId, id, platformMediaId) => {
      forgotten.push(`${connectionId} ${id} ${platformMediaId}`);
      return id === B ? Promise.reject(new Error('away')) : Promise.resolve();
    },
  };
  return { exchange: new FileExchange(transfer as MediaTransferService), asked };
}

describe('an exchange', () => {
  it('puts the platform’s ids in the place of ours, asking once for each file', async () => {
    const { exchange, asked } = exchangeWith({ [A]: ready('11'), [B]: ready('22') });
    const exchanged = await exchange.exchange(CONNECTION, task(A, B, A, '33'), SOON);
    const parameters = ['11', '22', '11', '33'].map((id) => ({ type: 'image', image: { id } }));
    expect(exchanged).toEqual({
      kind: 'ready',
      content: { components: [{ type: 'header', parameters }] },
      ids: new Map([
        [A, '11'],
        [B, '22'],
      ]),
    });
    expect(asked).toEqual([
      [A, SOON],
      [B, SOON],
    ]);
  });

  it('waits for the slowest file, and longer with each attempt', async () => {
    const { exchange } = exchangeWith({ [A]: later(2_000), [B]: later(700) });
    expect(await exchange.exchange(CONNECTION, task(A, B), SOON)).toEqual({ kind: 'later', delayMs: 2_000 });
    const late = { ...task(A), attemptNumber: 20 };
    expect(await exchange.exchange(CONNECTION, late, SOON)).toEqual({ kind: 'later', delayMs: 10_000 });
    const endless = { ...task(A), attemptNumber: 10_000 };
    expect(await exchange.exchange(CONNECTION, endless, SOON)).toEqual({ kind: 'later', delayMs: 60_000 });
  });

  it('fails with media_error where one file is gone, whatever the others say', async () => {
    const { exchange } = exchangeWith({ [A]: later(2_000) });
    expect(await exchange.exchange(CONNECTION, task(A, B), SOON)).toEqual({
      kind: 'refused',
      outcome: refusal('media_error', 'gone'),
    });
  });

  it('hands on what the platform says of the account', async () => {
    const outcome: NotAcceptedOutcome = {
      ...refusal('authentication', 'no token'),
      kind: 'lane_paused',
      platformCode: 190,
    };
    const { exchange } = exchangeWith({ [A]: { kind: 'account', outcome } });
    expect(await exchange.exchange(CONNECTION, task(A), SOON)).toEqual({ kind: 'refused', outcome });
  });
});

describe('a refusal for a file', () => {
  const ids = new Map([[A, '1037543291543636']]);
  const refused = (change: Partial<NotAcceptedOutcome>): SendOutcome => ({
    ...refusal('invalid_content', ''),
    httpStatus: 400,
    written: true,
    ...change,
  });

  it.each<[SendOutcome, boolean]>([
    [refused({ platformCode: 131009, platformMessage: 'Media with id 7 does not exist' }), true],
    [refused({ platformCode: 100, platformMessage: 'Param image[id] 1037543291543636 is not valid' }), true],
    [refused({ platformCode: 131053, platformMessage: 'Media upload error' }), true],
    [refused({ platformCode: 131009, platformMessage: 'Parameter value is not valid' }), false],
    [refused({ platformCode: 131026, platformMessage: 'Media' }), false],
    [refused({ platformCode: null, platformMessage: 'Media' }), false],
    [refused({ kind: 'unknown', platformCode: 131009, platformMessage: 'Media with id 7 does not exist' }), false],
    [{ kind: 'accepted', metaMessageId: 'wamid.1', waId: null, userId: null, httpStatus: 200 }, false],
  ])('%j: %s', (outcome, expected) => {
    expect(exchangeWith({}).exchange.isRefused(outcome, ids)).toBe(expected);
  });

  it('lets the files be forgotten; an error in that costs no message', async () => {
    const forgotten: string[] = [];
    const { exchange } = exchangeWith({}, forgotten);
    await exchange.forget(CONNECTION, new Map([...ids, [B, '22']]));
    expect(forgotten).toEqual([`connection-1 ${A} 1037543291543636`, `connection-1 ${B} 22`]);
  });
});
