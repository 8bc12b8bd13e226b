import type { Command } from 'commander';
import { describeError } from '../../common/describe-error.js';
import { type Answer, paint } from '../output.js';
import { CHAPTERS } from '../demo/chapters.js';
import { type Chapter, Skipped, Stage } from '../demo/stage.js';
import { SimulatorControl } from '../simulator-control.js';
import { type DemoFile, readDemoFile } from '../../bootstrap/demo-file.js';
import { loadClientConfig } from '../../infrastructure/config/load-config.js';
import { ApiClient } from '../api/client.js';
import { type Live, liveAction, UsageError } from '../runner.js';

interface Result {
  chapter: string;
  result: 'passed' | 'skipped' | 'failed';
  reason: string | null;
  duration_ms: number;
}

/** Plays the chapters one after another; one that fails does not keep the next from being played. */
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
  const passed = results.filter(({ result }) => result === 'passed').length;
  const failed = results.filter(({ result }) => result === 'failed');
  return {
    data: { event: 'end', passed: failed.length === 0, results },
    text: `\n${endText(passed, results.length, failed)}`,
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
    return ended('passed', null);
  } catch (error) {
    if (stage.live.signal.aborted) throw error;
    const reason = describeError(error);
    const isSkipped = error instanceof Skipped;
    const mark = isSkipped ? paint.doubtful('– skipped:') : paint.bad('✗ failed:');
    stage.live.say(`   ${mark} ${reason}`, { event: isSkipped ? 'skipped' : 'failed', reason });
    return ended(isSkipped ? 'skipped' : 'failed', reason);
  }
}

function endText(passed: number, all: number, failed: readonly Result[]): string {
  if (failed.length > 0) return paint.bad(`Failed: ${failed.map(({ chapter }) => chapter).join(', ')}.`);
  const skipped = passed === all ? '' : `, ${all - passed} skipped`;
  return paint.good(`All steps passed: ${passed} chapters${skipped}.`);
}

interface DemoOptions {
  fast?: boolean;
  chapter?: string[];
}

/** `demo`. */
export function addDemoCommand(program: Command): void {
  const names = CHAPTERS.map(({ name }) => name).join(', ');
  const command = program
    .command('demo')
    .description('run a guided tour in the terminal, against the demo that "npm start" runs')
    .option('--fast', 'without pauses for reading')
    .option('--chapter <list>', `only these, separated by commas: ${names}`, (text) => text.split(',').filter(Boolean));
  liveAction<DemoOptions>(command, async (live, { fast = false, chapter: wanted }) => {
    const unknown = (wanted ?? []).filter((name) => CHAPTERS.every((chapter) => chapter.name !== name));
    if (unknown.length > 0) throw new UsageError(`no chapter is called ${unknown.join(', ')}; there are ${names}`);
    const stage = await openStage(live, fast);
    live.print(`${paint.heading('Herald')} at ${stage.api.url}, the simulator at ${stage.demo.simulator_url ?? ''}`);
    return play(
      stage,
      CHAPTERS.filter(({ name }) => wanted === undefined || wanted.includes(name)),
    );
  });
}

async function openStage(live: Live, isFast: boolean): Promise<Stage> {
  const { dataDir } = loadClientConfig();
  const demo = readDemoFile(dataDir);
  if (!isWhole(demo)) {
    throw new Error(
      `there is no demo in ${dataDir}: start it with "npm start" in another terminal, in this folder (or set DATA_DIR), then try again`,
    );
  }
  const { simulator_url: simulatorUrl } = demo;
  if (simulatorUrl === null) throw new Error('the demo needs the simulator: start Herald with the role simulator');
  const api = new ApiClient(demo.base_url, demo.api_key, live.signal);
  // Fails at once where no service answers, or the key is of a demo that is gone.
  await api.get('/connections');
  return new Stage(live, api, demo, new SimulatorControl(simulatorUrl, live.signal), isFast);
}

function isWhole(demo: Partial<DemoFile>): demo is DemoFile {
  return demo.base_url !== undefined && demo.api_key !== undefined && Array.isArray(demo.recipients);
}
