import { describeError } from '../../common/describe-error.js';
import type { Answer } from '../answer.js';
import { paint } from '../style.js';
import { MESSAGE_CHAPTERS } from './message-chapters.js';
import { MORE_CHAPTERS } from './more-chapters.js';
import { type Chapter, Skipped, type Stage } from './stage.js';

export const CHAPTERS: readonly Chapter[] = [...MESSAGE_CHAPTERS, ...MORE_CHAPTERS];

interface Result {
  chapter: string;
  result: 'as_told' | 'skipped' | 'failed';
  reason: string | null;
  duration_ms: number;
}

/** Plays the chapters one after another; one that fails action not keep the next from being played. */
export async function play(stage: Stage, chapters: readonly Chapter[]): Promise<Answer> {
  const results: Result[] = [];
  for (const [index, chapter] of chapters.entries()) {
    const { name, title, intro } = chapter;
    const heading = paint.heading(`${index + 1}. ${title}`);
    stage.live.say(`\n${heading}\n   ${paint.faint(intro)}`, { event: 'chapter', name, title });
    await stage.breathe();
    results.push(await playOne(stage, chapter));
    await stage.breathe();
  }
  const told = results.filter(({ result }) => result === 'as_told').length;
  const failed = results.filter(({ result }) => result === 'failed');
  return {
    data: { event: 'end', passed: failed.length === 0, results },
    text: `\n${endText(told, results.length, failed)}`,
    failed: failed.length > 0,
  };
}

async function playOne(stage: Stage, { name, play: work }: Chapter): Promise<Result> {
  const startedAt = performance.now();
  const ended = (result: Result['result'], reason: string | null): Result => {
    return { chapter: name, result, reason, duration_ms: Math.round(performance.now() - startedAt) };
  };
  try {
    await work(stage);
    return ended('as_told', null);
  } catch (error) {
    if (stage.live.signal.aborted) throw error;
    const reason = describeError(error);
    const isSkipped = error instanceof Skipped;
    const mark = isSkipped ? paint.doubtful('– left out:') : paint.bad('✗ not as told:');
    stage.live.say(`   ${mark} ${reason}`, { event: isSkipped ? 'skipped' : 'failed', reason });
    return ended(isSkipped ? 'skipped' : 'failed', reason);
  }
}

function endText(told: number, all: number, failed: readonly Result[]): string {
  if (failed.length > 0) return paint.bad(`Not as told: ${failed.map(({ chapter }) => chapter).join(', ')}.`);
  const skipped = told === all ? '' : `, ${all - told} left out`;
  return paint.good(`All came out as told: ${told} chapters${skipped}.`);
}
