import { HandOver } from './hand-over.js';
import { Lane } from './lane-state.js';

const NOW = 1_000_000;

function handOver({ full = true, announces = true } = {}) {
  const state = { full, announces };
  const announced: string[] = [];
  const tried = new HandOver({
    isFull: () => state.full,
    afterMs: () => 2_000,
    announce: (laneKey) => state.announces && announced.push(laneKey) > 0,
  });
  return { tried, state, announced };
}

/** Lanes that have been held for long enough, and may have due rows. */
function held(...laneKeys: string[]): [string, Lane][] {
  return laneKeys.map((laneKey) => {
    const lane = new Lane(NOW);
    lane.handOverAt = NOW;
    return [laneKey, lane];
  });
}

it('a full process gives one lane in 100 ms', () => {
  const { tried, announced } = handOver();
  const lanes = held('a', 'b');
  expect(tried.announceNext(lanes, NOW)).toEqual(['a']);
  expect(tried.announceNext(lanes.slice(1), NOW + 99)).toEqual([]);
  expect(tried.announceNext(lanes.slice(1), NOW + 100)).toEqual(['b']);
  expect(announced).toEqual(['a', 'b']);
});

it('gives none that it has held for too short a time, and none without due rows as far as it knows', () => {
  const { tried } = handOver();
  const [[, fresh], [, empty]] = held('fresh', 'empty') as [[string, Lane], [string, Lane]];
  fresh.handOverAt = tried.timeIfTakenAt(NOW);
  empty.lookAt = NOW + 1;
  const lanes: [string, Lane][] = [
    ['fresh', fresh],
    ['empty', empty],
  ];
  expect(tried.announceNext(lanes, NOW)).toEqual([]);
  expect(tried.announceNext(lanes, NOW + 2_000)).toEqual(['fresh']);
});

it('keeps a lane that cannot be announced', () => {
  const { tried, state } = handOver({ announces: false });
  const lanes = held('a');
  expect(tried.announceNext(lanes, NOW)).toEqual([]);
  state.announces = true;
  expect(tried.announceNext(lanes, NOW)).toEqual(['a']);
});

it('a process whose last look ended full is saturated, also where a place is free again', () => {
  const { tried, state } = handOver();
  tried.lookEnded();
  state.full = false;
  expect(tried.isSaturated).toBe(true);
  tried.lookEnded();
  expect(tried.isSaturated).toBe(false);
  expect(tried.announceNext(held('a'), NOW)).toEqual([]);
});
