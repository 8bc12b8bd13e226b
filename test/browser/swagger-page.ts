import type { Locator, Page } from 'playwright-core';

/** One operation on the page of Swagger UI, as a person uses it. */
export class SwaggerOperation {
  private readonly block: Locator;

  /** @param id its operationId */
  constructor(page: Page, id: string) {
    this.block = page.locator(`.opblock[id$="-${id}"]`);
  }

  async open(): Promise<void> {
    await this.block.locator('.opblock-summary-control').click();
    const button = this.block.locator('.try-out__btn');
    // Where it was tried out before, the same button takes the form away.
    if ((await button.innerText()) === 'Try it out') await button.click();
  }

  /** Gives a form its file. */
  async attach(name: string, text: string): Promise<void> {
    await this.block
      .locator('input[type=file]')
      .setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(text) });
  }

  /** Presses Execute; returns status and body of the answer. */
  async execute(): Promise<{ status: number; text: string }> {
    const clear = this.block.locator('.btn-clear');
    // The answer of the call before would be read again.
    if ((await clear.count()) > 0) await clear.click();
    await this.block.locator('.execute').click();
    const answer = this.block.locator('.live-responses-table');
    const status = await answer.locator('tr.response .response-col_status').first().innerText();
    return { status: Number.parseInt(status, 10), text: await answer.innerText() };
  }

  async close(): Promise<void> {
    await this.block.locator('.opblock-summary-control').click();
  }
}

/** Width of what is wider than the window, in pixels; 0 where all fits. */
export function overflowOf(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
}
