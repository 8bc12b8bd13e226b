import type { Page } from 'playwright-core';
import { describeConsole, PATIENCE_MS } from './rig.js';

const RECIPIENTS = 5_000;
/** Of the line that is mended later. */
const BROKEN = 2_500;
const TAG = 'summer-sale';

interface Tag {
  status: string;
  messages: number;
  counts: Record<string, number>;
}
interface Page100 {
  data: { to: string }[];
  pagination: { next_before: string | null; next_before_id: string | null };
}

const numberOf = (n: number): string => `+4915${1_000_000_000 + n}`;
type Row = [number: string, name: string, order: string];
const ROWS: readonly Row[] = Array.from({ length: RECIPIENTS }, (_, n) => [numberOf(n), `Zoë ${n}`, `${4_000 + n}`]);
const withRow = (at: number, row: Row): Row[] => ROWS.map((each, n) => (n === at ? row : each));
/** As Excel saves it in most of Europe: semicolons, Windows-1252. */
const fileOf = (rows: readonly Row[]): Buffer =>
  Buffer.from(['Telefon;Name;Bestellung', ...rows.map((row) => row.join(';'))].join('\r\n'), 'latin1');

describeConsole(
  'campaigns in the console',
  (rig) => {
    const open = async (page: Page, path: string): Promise<void> => {
      await page.goto(`${rig.demo.base_url}/console${path}`);
      await page.locator('#page h1, #page .panel-bar').first().waitFor({ state: 'attached' });
    };
    const drop = async (page: Page, rows: readonly Row[], name: string): Promise<void> => {
      await page.locator('.upload input').setInputFiles({ name, mimeType: 'text/csv', buffer: fileOf(rows) });
      await page.locator('.campaign-run').waitFor();
    };
    const send = (page: Page): Promise<void> =>
      page
        .locator('.campaign-run')
        .getByRole('button', { name: /messages$/ })
        .click();
    /** What stands there when all lines are done. */
    const done = async (page: Page): Promise<string> => {
      const text = page.getByText(/All lines are done/);
      await text.waitFor();
      return (await text.textContent()) ?? '';
    };
    const tagOf = (): Promise<Tag> => rig.call('GET', `/tags/${TAG}`);
    const recipients = async (): Promise<string[]> => {
      const found: string[] = [];
      for (let next = ''; ;) {
        const answer = await fetch(`${rig.demo.base_url}/api/v1/messages?tag=${TAG}&limit=100${next}`, {
          headers: { authorization: `Bearer ${rig.demo.api_key}` },
        });
        const { data, pagination } = (await answer.json()) as Page100;
        found.push(...data.map(({ to }) => to));
        if (pagination.next_before === null) return found;
        next = `&before=${pagination.next_before}&before_id=${pagination.next_before_id}`;
      }
    };

    it(
      'sends a file of 5,000 once to each, over a reload, a mended line and another order',
      () =>
        rig.visit({ width: 1_280 }, async (page) => {
          await open(page, '/campaigns?new=1');
          await page.getByLabel('Name').fill(TAG);
          await page.getByLabel('Template').selectOption({ label: 'order_update · en_US · utility' });
          await drop(page, withRow(BROKEN, ['0151 000', 'Zoë', '1']), 'first.csv');
          await page.getByText('4,999 of 5,000 lines can be sent.').waitFor();
          await page.getByText(`Line ${BROKEN + 2}: the number has no country code`).waitFor();
          await page.getByLabel('When I resume it').check();
          await send(page);
          await page.getByText(/Sends: 1,\d00 of 4,999/).waitFor();
          await page.reload();
          await page.locator('.upload').waitFor();
          const before = (await tagOf()).messages;
          expect(before).toBeGreaterThanOrEqual(1_000);
          expect(before).toBeLessThan(4_999);
          // The browser knows what was chosen, and nobody of the file.
          expect(await page.evaluate('JSON.stringify([localStorage, sessionStorage, location.href])')).not.toMatch(
            /4915\d{6}|Zo/,
          );

          await drop(page, withRow(BROKEN, ['0151 000', 'Zoë', '1']), 'first.csv');
          await page.getByText('This campaign has messages already.').waitFor();
          await send(page);
          const again = await done(page);
          expect(again).toContain(`${(4_999 - before).toLocaleString('en-US')} queued`);
          expect(again).toContain(`${before.toLocaleString('en-US')} were sent before`);
          expect(await tagOf()).toMatchObject({ status: 'paused', messages: 4_999, counts: { queued: 4_999 } });

          await drop(page, ROWS, 'mended.csv');
          await page.getByText('5,000 of 5,000 lines can be sent.').waitFor();
          await send(page);
          expect(await done(page)).toContain('1 queued, 4,999 were sent before');

          await drop(page, ROWS.toReversed(), 'sorted.csv');
          await send(page);
          expect(await done(page)).toContain('0 queued, 5,000 were sent before');

          await drop(page, withRow(7, [numberOf(7), 'Another name', '1']), 'other.csv');
          await page.getByRole('button', { name: 'Check all lines' }).click();
          await page.getByText('All lines are checked.').waitFor();
          await send(page);
          expect(await done(page)).toContain('0 queued, 4,999 were sent before, 1 were not sent');
          await page.locator('summary', { hasText: 'IDEMPOTENCY_KEY_REUSED' }).click();
          await page.getByText(`line 9 (${numberOf(7)})`).waitFor();

          expect(await tagOf()).toMatchObject({ messages: RECIPIENTS });
          expect(new Set(await recipients()).size).toBe(RECIPIENTS);
        }),
      12 * PATIENCE_MS,
    );

    it(
      'shows a campaign, and what each action will do before it does',
      () =>
        rig.visit({ width: 1_280 }, async (page) => {
          await open(page, '/campaigns');
          await page.locator('.pane-row', { hasText: TAG }).click();
          await page.getByText(`0 of 5,000 have left the queue.`).waitFor();
          await page.getByRole('button', { name: 'Resume' }).click();
          await page.getByText('5,000 messages go on in their old order').waitFor();
          await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
          await page.locator('.campaign-parts', { hasText: 'delivered' }).waitFor();
          await page.getByRole('button', { name: 'Pause' }).click();
          await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
          await page.locator('.pane-detail .state', { hasText: 'paused' }).waitFor();
          await page.getByRole('button', { name: 'Cancel the rest' }).click();
          await page.getByText('that wait fail with “canceled”').waitFor();
          await page.getByRole('dialog').getByRole('button', { name: 'Cancel the rest' }).click();
          await page.getByRole('link', { name: /^canceled/ }).waitFor();
        }),
      6 * PATIENCE_MS,
    );

    it(
      'is readable wide and narrow, light and dark',
      () =>
        rig.visitEach(async (page) => {
          await open(page, '/campaigns');
          await page.locator('.pane-row').first().waitFor();
          await rig.expectAccessible(page);
          await open(page, `/campaigns/${TAG}`);
          await page.locator('.campaign-bar').waitFor();
          await rig.expectAccessible(page);
          await open(page, `/campaigns?new=1&tag=${TAG}`);
          await page.getByLabel('Template').selectOption({ label: 'order_update · en_US · utility' });
          await drop(page, withRow(3, ['0151 000', 'Zoë', '1']), 'first.csv');
          await page.getByText('This campaign has messages already.').waitFor();
          await rig.expectAccessible(page);
        }),
      6 * PATIENCE_MS,
    );
  },
  { RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '100000' },
);
