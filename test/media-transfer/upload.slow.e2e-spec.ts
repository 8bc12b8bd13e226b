import { Deadline } from '../../src/common/deadline.js';
import { randomBytes } from 'node:crypto';
import { waitFor } from '../support/wait-for.js';
import { startRig, type TransferRig } from './fixture.js';
import { gate } from '../support/gate.js';

let rig: TransferRig;

beforeAll(async () => {
  rig = await startRig();
});

afterAll(() => rig.stop());

beforeEach(() => rig.platform.reset());

describe('a message does not wait for long', () => {
  it('longer than some seconds, however much time it has', async () => {
    const fileId = await rig.storedFile();
    const { opened, open } = gate();
    rig.platform.before = async () => {
      await opened;
      return false;
    };
    const answered: string[] = [];
    const ask = async (name: string, waitMs: number): Promise<void> => {
      expect(await rig.idFor(fileId, waitMs)).toMatchObject({ kind: 'later' });
      answered.push(name);
    };
    // The first has more time than any test: its answer comes after the few seconds that a message waits at the most.
    await Promise.all([ask('with much time', 600_000), ask('with little time', 200)]);
    expect(answered).toEqual(['with little time', 'with much time']);
    open();
    await waitFor(async () => (await rig.idFor(fileId)).kind === 'ready');
    expect(rig.uploads()).toBe(1);
  });

  it('nor does a hundredth file keep others from their turn', async () => {
    const fileIds = await Promise.all(Array.from({ length: 40 }, () => rig.storedFile()));
    const { opened, open } = gate();
    let atOnce = 0;
    let most = 0;
    rig.platform.before = async () => {
      most = Math.max(most, ++atOnce);
      await opened;
      atOnce--;
      return false;
    };
    // Each had its chance to begin while none could end.
    const first = await Promise.all(fileIds.map((fileId) => rig.idFor(fileId)));
    expect(new Set(first.map(({ kind }) => kind))).toEqual(new Set(['later']));
    open();
    const ids = await Promise.all(fileIds.map((fileId) => rig.readyId(fileId)));
    expect(ids.every((id) => id.kind === 'ready')).toBe(true);
    expect(most).toBe(12);
  });
});

describe('slow files', () => {
  it('hold a quarter of the places of messages at the most', async () => {
    const fileIds = await Promise.all(Array.from({ length: 100 }, () => rig.storedFile(randomBytes(10))));
    const { opened, open } = gate();
    rig.platform.before = async () => {
      await opened;
      return false;
    };
    let answered = 0;
    // All within one moment: those that wait do so for three seconds only.
    const sending = await rig.sending();
    const answers = fileIds.map(async (fileId) => {
      const answer = await rig.transfer.platformIdFor(sending, fileId, Deadline.in(10_000));
      answered++;
      return answer.kind;
    });
    await waitFor(() => answered === 100 - rig.test.config.queue.maxInFlight / 4);
    open();
    await Promise.all(answers);
    // Those that were sent away find their files ready, or on their way.
    for (const fileId of fileIds) await waitFor(async () => (await rig.idFor(fileId)).kind === 'ready');
    expect(rig.uploads()).toBe(100);
  });
});
