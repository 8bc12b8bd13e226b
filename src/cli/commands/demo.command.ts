import type { Command } from 'commander';
import { type DemoFile, readDemoFile } from '../../bootstrap/demo-file.js';
import { loadClientConfig } from '../../infrastructure/config/load-config.js';
import { ApiClient } from '../api/api-client.js';
import { CHAPTERS, play } from '../demo/play.js';
import { SimulatorControl } from '../demo/simulator-control.js';
import { Stage } from '../demo/stage.js';
import { guide } from '../help.js';
import type { Live } from '../live.js';
import { doesLive } from '../runner.js';
import { paint } from '../style.js';

interface DemoOptions {
  fast?: boolean;
  chapter?: string[];
}

/** `demo`. */
export function addDemoCommand(program: Command): void {
  const names = CHAPTERS.map(({ name }) => name).join(', ');
  const command = program
    .command('demo')
    .description('play the whole story in the terminal, against the demo that "npm start" runs')
    .option('--fast', 'without pauses for reading')
    .option('--chapter <list>', `only these, separated by commas: ${names}`, (text) => text.split(',').filter(Boolean));
  guide(command, {
    examples: [
      ['npm start', 'in one terminal; WEBHOOK_ALLOW_PRIVATE_TARGETS=true before it for the last chapter'],
      ['npx herald demo', 'in another, in the same folder'],
      ['npx herald demo --fast --chapter send,retry', 'two chapters, without pauses'],
    ],
    notes:
      'Address, keys and numbers come from DATA_DIR/demo.json. It leaves messages in the demo workspace, nothing else.',
    failure: 'something came out otherwise than told; it says what',
  });
  doesLive<DemoOptions>(command, async (live, { fast = false, chapter: wanted }) => {
    const unknown = (wanted ?? []).filter((name) => CHAPTERS.every((chapter) => chapter.name !== name));
    if (unknown.length > 0) throw new Error(`no chapter is called ${unknown.join(', ')}; there are ${names}`);
    const stage = await openStage(live, fast);
    live.tell(`${paint.heading('Herald')} at ${stage.api.url}, the simulator at ${stage.demo.simulator_url ?? ''}`);
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
  // Says at once where nobody answers, or the key is of a demo that is gone.
  await api.get('/connections');
  return new Stage(live, api, demo, new SimulatorControl(simulatorUrl, live.signal), isFast);
}

function isWhole(demo: Partial<DemoFile>): demo is DemoFile {
  return demo.base_url !== undefined && demo.api_key !== undefined && Array.isArray(demo.recipients);
}
