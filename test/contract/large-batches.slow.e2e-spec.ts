import { jest } from '@jest/globals';
import { Body, Controller, HttpCode, Post, UseInterceptors } from '@nestjs/common';
import { BodyAs } from '../../src/infrastructure/http/body.guard.js';
import { RequireScope } from '../../src/infrastructure/http/route-policy.js';
import { BatchBody } from '../../src/modules/messages/accept/batch-body.interceptor.js';
import type { Batch } from '../../src/modules/messages/dto/send-batch.js';
import type { ApiResponse } from '../support/api-client.js';
import { waitFor } from '../support/wait-for.js';
import { rawRequest, request } from './raw-http.js';
import { startSmallApp, type SmallApp } from './small-app.js';

const KIB = 1_024;
const LIMIT = 4 * KIB * KIB;
const MAX_WAITING = 8;

let entered: number[] = [];
let release: () => void = () => undefined;
let released: Promise<void> = Promise.resolve();

@Controller('batches')
class BatchesController {
  @Post()
  @HttpCode(202)
  @RequireScope('messages:write')
  @BodyAs({ stream: true })
  @UseInterceptors(BatchBody)
  async take(@Body() { messages, strict }: Batch) {
    entered.push(messages.length);
    await released;
    return { data: { texts: messages.map((message) => message.toString('utf8', 0, 20)), strict } };
  }
}

let small: SmallApp;

beforeAll(async () => {
  small = await startSmallApp({ controllers: [BatchesController] });
});
afterAll(() => small?.close());

beforeEach(() => {
  entered = [];
  released = Promise.resolve();
});
afterEach(() => release());

function hold(): void {
  released = new Promise((resolve) => (release = resolve));
}

const SLOW = { ratePerSecond: 1, rateBurst: 100 };
const FAST = { ratePerSecond: 10_000, rateBurst: 10_000 };

async function keysOf(count: number, limits: { ratePerSecond: number; rateBurst: number }): Promise<string[]> {
  const { id: organizationId } = await small.factories.workspace(limits);
  const keys = Array.from({ length: count }, () => small.factories.apiKey({ organizationId }));
  return (await Promise.all(keys)).map(({ text }) => text);
}
const keyOf = async (limits = SLOW): Promise<string> => (await keysOf(1, limits))[0] as string;

const post = (key: string, body: unknown): Promise<ApiResponse> => small.api.post('/batches', body, { key });
const batchOf = (count: number, bytes: number): string =>
  `{"messages":[${Array.from({ length: count }, () => `"${'x'.repeat(bytes - 2)}"`).join(',')}]}`;
/** What a new key has left of its hundred tokens, and what came back meanwhile. */
async function spentBy(body: unknown): Promise<{ answer: ApiResponse; spent: number; most: number }> {
  const key = await keyOf();
  const startedAt = performance.now();
  const answer = await post(key, body);
  const spent = 100 - leftOf(answer);
  return { answer, spent, most: spent + Math.ceil((performance.now() - startedAt) / 1_000) };
}
const expectPrice = (price: number, { spent, most }: { spent: number; most: number }): void => {
  expect(spent).toBeLessThanOrEqual(price);
  expect(most).toBeGreaterThanOrEqual(price);
};
const leftOf = ({ headers }: ApiResponse): number => Number(/r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1]);
const refusalOf = ({ status, body }: ApiResponse): unknown[] => [
  status,
  body.error.code,
  ...(body.error.details ?? []).map(({ field, rule, message }) => [field, rule, message]),
];

/** A request whose body does not end, in parts that say no length. */
const chunked = (key: string, ...parts: string[]): string =>
  request(
    'POST /api/v1/batches HTTP/1.1',
    [`Authorization: Bearer ${key}`, 'Content-Type: application/json', 'Transfer-Encoding: chunked'],
    parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join(''),
  );
const END = '';

describe('what a batch costs', () => {
  it('1.39 million empty messages are refused with what was read of them, and parsed by nothing', async () => {
    const body = `{"messages":[${'{},'.repeat(LIMIT / 3 - 10)}{}]}`;
    const parse = jest.spyOn(JSON, 'parse');
    let answer: ApiResponse;
    let longest: number;
    try {
      answer = await post(await keyOf(), body);
      longest = Math.max(0, ...parse.mock.calls.map(([text]) => text.length));
    } finally {
      parse.mockRestore();
    }
    expect(refusalOf(answer)).toEqual([
      422,
      'VALIDATION_FAILED',
      ['messages', 'length', 'messages must have 1 to 100 items.'],
    ]);
    expect(longest).toBeLessThan(10 * KIB);
    expect(leftOf(answer)).toBeGreaterThan(90);
    expect(entered).toEqual([]);
  });

  it.each([
    ['small ones', 40, 200, 40],
    ['one that fills a body', 1, 256 * KIB, 1],
    ['large ones', 3, 100 * KIB, 3],
    ['the largest', 16, 255 * KIB, 16],
    ['one that is larger than a message may be: what was read of it', 1, 401 * KIB, 11],
  ])('a token each in the end: %s', async (_what, count, bytes, price) => {
    const made = await spentBy(batchOf(count, bytes));
    expect(made.answer.status).toBe(202);
    expectPrice(price, made);
  });

  it('takes as much as has no length, and gives back what it did not need', async () => {
    const key = await keyOf();
    const text = batchOf(2, 250 * KIB);
    const answer = await rawRequest(small.port, chunked(key, text.slice(0, 70_000), text.slice(70_000), END));
    expect([answer.status, answer.headers.ratelimit]).toEqual([202, expect.stringMatching(/r=(98|99|100);/)]);
  });

  it.each([
    [
      'that is no JSON',
      `${batchOf(2, 55 * KIB)}\n  x`,
      3,
      [400, 'INVALID_REQUEST', ['', 'json', 'The body is not valid JSON: look at line 2, column 3.']],
    ],
    [
      'that ends too early',
      `{"messages":[{}`,
      1,
      [400, 'INVALID_REQUEST', ['', 'json', 'The body is not valid JSON: it ends too early.']],
    ],
    [
      'whose list is none',
      `{"messages":{"a":"${'x'.repeat(90 * KIB)}"}}`,
      3,
      [422, 'VALIDATION_FAILED', ['messages', 'type', 'messages must be an array.']],
    ],
    [
      'with much beside its messages',
      `{"messages":[{}],"x":"${'x'.repeat(257 * KIB)}"}`,
      7,
      [413, 'PAYLOAD_TOO_LARGE'],
    ],
  ])('what was read of one %s', async (_what, body, price, refusal) => {
    const made = await spentBy(body);
    expect(refusalOf(made.answer)).toEqual(refusal);
    expectPrice(price, made);
  });

  it('is there before it is read: one 429 where fewer are left, which takes none', async () => {
    const key = await keyOf();
    expect((await post(key, batchOf(60, 100))).status).toBe(202);
    const refused = await post(key, batchOf(16, 128 * KIB));
    expect([refused.status, refused.body.error.message]).toEqual([
      429,
      expect.stringContaining('This request counts as 52, and'),
    ]);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(1);
    expect((await post(key, batchOf(38, 100))).status).toBe(202);
  });

  it('is held while it arrives and given back where it never comes; another workspace is served meanwhile', async () => {
    const [key, other] = [await keyOf(), await keyOf()];
    const headers = [`Authorization: Bearer ${key}`, 'Content-Type: application/json', `Content-Length: ${LIMIT / 2}`];
    const first = rawRequest(small.port, request('POST /api/v1/batches HTTP/1.1', headers, '{"messages":['), 20_000);
    const left = async (): Promise<number> => leftOf(await post(key, '{'));
    await waitFor(async () => (await left()) < 60, { what: 'its tokens to be taken' });
    expect((await post(other, batchOf(16, 250 * KIB))).status).toBe(202);
    expect((await first).status).toBe(400);
    expect(await left()).toBeGreaterThan(60);
  });
});

describe('batches above 256 KiB', () => {
  const large = batchOf(2, 150 * KIB);

  it('are taken one after another of a workspace; small ones and those of others pass', async () => {
    const [[one, two], other] = [await keysOf(2, FAST), await keyOf(FAST)];
    hold();
    const first = post(one as string, large);
    await waitFor(() => entered.length === 1, { what: 'the first' });
    const second = post(two as string, large);
    const third = rawRequest(small.port, chunked(two as string, large, END));
    const others = [post(one as string, batchOf(3, 10)), post(other, batchOf(4, 100 * KIB))];
    await waitFor(() => entered.length === 3, { what: 'those that pass' });
    expect(entered.toSorted((a, b) => a - b)).toEqual([2, 3, 4]);
    release();
    expect((await Promise.all([first, second, ...others])).map(({ status }) => status)).toEqual([202, 202, 202, 202]);
    expect((await third).status).toBe(202);
    // And its place is free again.
    expect((await post(one as string, large)).status).toBe(202);
  });

  it('wait for five seconds, a few of them; then it is 429 with the limit and when to come back', async () => {
    const key = await keyOf(FAST);
    hold();
    const first = post(key, large);
    await waitFor(() => entered.length === 1, { what: 'the first' });
    const answers = await Promise.all(Array.from({ length: MAX_WAITING + 2 }, () => post(key, large)));
    for (const { status, headers, body } of answers) {
      expect([status, headers.get('retry-after')]).toEqual([429, '1']);
      expect(body.error).toMatchObject({ code: 'RATE_LIMITED', scope: 'large_batches', retry_after_seconds: 1 });
    }
    expect(entered).toEqual([2]);
    release();
    expect((await first).status).toBe(202);
    expect((await post(key, large)).status).toBe(202);
  });
});
