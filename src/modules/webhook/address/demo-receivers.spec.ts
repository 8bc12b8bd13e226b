import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { announceReceiver } from '../../../bootstrap/demo-file.js';
import { newId } from '../../../common/ids.js';
import type { Config } from '../../../infrastructure/config/config.js';
import { DEMO_RECEIVERS_FILE } from '../webhook.types.js';
import { DemoReceivers } from './demo-receivers.service.js';

const DEMO = newId();
const URL_OF_RECEIVER = 'http://127.0.0.1:43210/';

describe('receivers of the demo', () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'herald-receivers-'));
  afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
  beforeEach(() => {
    rmSync(join(dataDir, DEMO_RECEIVERS_FILE), { force: true });
    writeFileSync(join(dataDir, 'demo.json'), JSON.stringify({ organization_id: DEMO }));
  });

  const receivers = (environment = 'development'): DemoReceivers => {
    const made = new DemoReceivers({ process: { environment, dataDir } } as unknown as Config);
    made.allow(DEMO);
    return made;
  };
  const list = (...urls: unknown[]): void => writeFileSync(join(dataDir, DEMO_RECEIVERS_FILE), JSON.stringify(urls));

  it('are good while they are announced, in a file of the owner alone', async () => {
    const made = receivers();
    expect(made.isAllowed(DEMO, URL_OF_RECEIVER)).toBe(false);
    const withdraw = announceReceiver(dataDir, URL_OF_RECEIVER);
    const other = announceReceiver(dataDir, 'http://127.0.0.1:43211/');
    expect(statSync(join(dataDir, DEMO_RECEIVERS_FILE)).mode & 0o777).toBe(0o600);
    expect(made.isAllowed(DEMO, URL_OF_RECEIVER)).toBe(true);
    expect(made.clientFor(DEMO, URL_OF_RECEIVER)).not.toBeNull();
    withdraw();
    expect(made.isAllowed(DEMO, URL_OF_RECEIVER)).toBe(false);
    expect(made.clientFor(DEMO, URL_OF_RECEIVER)).toBeNull();
    expect(made.isAllowed(DEMO, 'http://127.0.0.1:43211/')).toBe(true);
    other();
    await made.close();
  });

  it('are good for the demo workspace only, once its start has said which it is, and never in production', () => {
    list(URL_OF_RECEIVER);
    expect(receivers().isAllowed(newId(), URL_OF_RECEIVER)).toBe(false);
    expect(receivers('production').isAllowed(DEMO, URL_OF_RECEIVER)).toBe(false);
    const unknown = new DemoReceivers({ process: { environment: 'development', dataDir } } as unknown as Config);
    expect(unknown.isAllowed(DEMO, URL_OF_RECEIVER)).toBe(false);
  });

  it.each([
    'http://localhost:43210/',
    'http://127.0.0.1/',
    'http://127.0.0.1:80/',
    'http://127.0.0.1:1023/',
    'http://127.0.0.1:65536/',
    'http://127.0.0.1:43210/admin',
    'http://127.0.0.1:43210/?a=b',
    'http://user@127.0.0.1:43210/',
    'http://127.0.0.1:43210@169.254.169.254/',
    'http://127.1:43210/',
    'http://0.0.0.0:43210/',
    'http://[::1]:43210/',
    'http://169.254.169.254:43210/',
    'http://10.0.0.1:43210/',
    'https://127.0.0.1:43210/',
    'HTTP://127.0.0.1:43210/',
    'http://127.0.0.1:43210/\n',
  ])('are not at %j, whatever the file says', (url) => {
    list(url);
    expect(receivers().isAllowed(DEMO, url)).toBe(false);
  });

  it.each([
    ['http://127.0.0.1:5000/hooks', 'http://127.0.0.1:5000/'],
    ['http://localhost:5000', 'http://127.0.0.1:5000/'],
    ['https://[::1]/', 'http://127.0.0.1:4000/'],
  ])('%s leads to the command that allows one', (url, address) => {
    expect(receivers().hintFor(DEMO, url)).toContain(`npx herald webhook set ${address}`);
    expect(receivers().hintFor(newId(), url)).toBeNull();
    expect(receivers('production').hintFor(DEMO, url)).toBeNull();
  });

  it.each(['https://example.com/', 'http://10.0.0.1:5000/', 'no url'])('%s leads to none', (url) => {
    expect(receivers().hintFor(DEMO, url)).toBeNull();
  });

  it('are none where the file cannot be read, or there is no demo', () => {
    writeFileSync(join(dataDir, DEMO_RECEIVERS_FILE), '{');
    expect(receivers().isAllowed(DEMO, URL_OF_RECEIVER)).toBe(false);
    writeFileSync(join(dataDir, DEMO_RECEIVERS_FILE), `{"${URL_OF_RECEIVER}": true}`);
    expect(receivers().isAllowed(DEMO, URL_OF_RECEIVER)).toBe(false);
    rmSync(join(dataDir, 'demo.json'));
    announceReceiver(dataDir, URL_OF_RECEIVER)();
    expect(receivers().isAllowed(DEMO, URL_OF_RECEIVER)).toBe(false);
  });
});
