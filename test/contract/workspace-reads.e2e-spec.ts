import { Controller, Get, Post } from '@nestjs/common';
import { RequireScope } from '../../src/infrastructure/http/route-policy.js';
import type { ApiResponse } from '../support/api-client.js';
import { waitFor } from '../support/wait-for.js';
import { startSmallApp, type SmallApp } from './small-app.js';

const CONNECTIONS = 6;
const AT_ONCE = 2;
const MAX_WAITING = 200;

let entered = 0;
let release: () => void = () => undefined;
let released: Promise<void> = Promise.resolve();

@Controller('reads')
class ReadsController {
  @Get('held')
  @RequireScope('messages:read')
  async held() {
    entered += 1;
    await released;
    return { data: 'read' };
  }

  @Get('quick')
  @RequireScope('messages:read')
  quick() {
    return { data: 'read' };
  }

  @Post()
  @RequireScope('messages:write')
  accept() {
    return { data: 'accepted' };
  }

  @Get('code')
  @RequireScope('otp:read')
  code() {
    return { data: 'code' };
  }
}

let small: SmallApp;

beforeAll(async () => {
  small = await startSmallApp({
    controllers: [ReadsController],
    env: { DATABASE_POOL_SIZE: String(CONNECTIONS) },
  });
});
afterAll(() => small?.close());

beforeEach(() => {
  entered = 0;
  released = new Promise((resolve) => (release = resolve));
});
afterEach(() => release());

async function keyOf(): Promise<string> {
  const { id } = await small.factories.workspace({ ratePerSecond: 1_000, rateBurst: 1_000 });
  return (await small.factories.apiKey({ organizationId: id })).text;
}

it('a third of the connections serve the reads of one workspace; others and its own accepts pass', async () => {
  const [greedy, other] = [await keyOf(), await keyOf()];
  const reads = Array.from({ length: 5 }, () => small.api.get('/reads/held', { key: greedy }));
  await waitFor(() => entered === AT_ONCE, { what: 'the first reads' });
  expect((await small.api.get('/reads/quick', { key: other })).status).toBe(200);
  expect((await small.api.post('/reads', {}, { key: greedy })).body.data).toBe('accepted');
  expect(entered).toBe(AT_ONCE);
  release();
  expect((await Promise.all(reads)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  expect((await small.api.get('/reads/quick', { key: greedy })).status).toBe(200);
});

it('beyond those that may wait it is 429, with the limit and when to come back', async () => {
  const greedy = await keyOf();
  const answers: ApiResponse[] = [];
  const reads = Array.from({ length: AT_ONCE + MAX_WAITING + 1 }, async () => {
    const answer = await small.api.get('/reads/held', { key: greedy });
    answers.push(answer);
    return answer.status;
  });
  const refused = await waitFor(() => answers[0], { what: 'a refusal' });
  release();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1']);
  expect(refused.body.error).toMatchObject({
    code: 'RATE_LIMITED',
    scope: 'workspace_reads',
    retry_after_seconds: 1,
  });
  expect(refused.headers.get('x-herald-api-version')).toBe('v1');
  const statuses = await Promise.all(reads);
  expect(statuses.filter((status) => status === 429)).toHaveLength(1);
});
