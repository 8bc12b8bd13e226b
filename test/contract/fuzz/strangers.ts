import { randomUUID } from 'node:crypto';
import { newId } from '../../../src/common/ids.js';
import { otpApp } from '../../otp/fixture.js';
import type { ApiResponse } from '../../support/api-client.js';
import { foreignIds } from './namespaces.js';
import { waitFor } from '../../support/wait-for.js';
import { nextPhone, type Stage } from './stage.js';

type Row = { id: string; created_at: string };

/** Lists show own rows only, whatever cursor is passed: that of another workspace's row too. */
export async function ensureOwnLists({ own, foreign, test }: Stage): Promise<void> {
  const theirs = foreignIds(foreign);
  const api = test.api.as(own.key);
  for (const path of ['/connections', '/messages', '/media', '/opt-outs', '/webhook/deliveries', '/webhook']) {
    const answer = await api.get(path);
    expect([path, answer.status]).toEqual([path, 200]);
    const text = JSON.stringify(answer.body);
    expect([path, theirs.filter((id) => text.includes(id))]).toEqual([path, []]);
  }
  for (const path of ['/messages', '/media', '/webhook/deliveries']) {
    const rows = (await test.api.as(foreign.key).get(path)).body.data as Row[];
    expect([path, rows.length > 0]).toEqual([path, true]);
    for (const { id, created_at: before } of rows.slice(0, 3)) {
      const cursor = (beforeId: string) => api.get(`${path}?before=${before}&before_id=${beforeId}`);
      // A cursor is a place in time: it does not reveal whether there is such a row. Deliveries go on meanwhile.
      await waitFor(
        async () => {
          const [passed, unknown] = [await cursor(id), await cursor(neighbourOf(id))];
          expect([path, passed.status]).toEqual([path, 200]);
          const text = JSON.stringify(passed.body);
          expect([path, theirs.filter((one) => text.includes(one))]).toEqual([path, []]);
          expect(idsOf(passed)).toEqual(idsOf(unknown));
          return true;
        },
        { what: `${path} to be the same behind a foreign and an unknown cursor` },
      );
    }
  }
}

/** An id that no row has, in the same place of the order. */
function neighbourOf(id: string): string {
  return `${id.slice(0, -1)}${id.endsWith('0') ? '1' : '0'}`;
}

/** A key that another workspace, or another project, has used is free. */
export async function ensureOwnKeys({ own, foreign, test }: Stage): Promise<void> {
  const key = randomUUID();
  const ids = new Set<string>();
  for (const { connection, contacts, key: apiKey } of [own, foreign]) {
    const body = { connection_id: connection.id, to: contacts[5]?.phone, type: 'text', text: { body: 'same' } };
    const answer = await test.api.as(apiKey).post('/messages', body, { headers: { 'idempotency-key': key } });
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([202, null]);
    ids.add(answer.body.data.id as string);
  }
  const sibling = await otpApp(test, 'sandbox', { organizationId: own.workspace.organizationId });
  for (const app of [own.otp, sibling, foreign.otp]) {
    const answer = await app.send(nextPhone(), { key: `shared-${key}` });
    expect([answer.status, answer.headers.get('idempotency-replayed')]).toEqual([202, null]);
    ids.add(answer.body.data.id as string);
  }
  expect(ids.size).toBe(5);
}

/** A project sees its own codes only, those of the same workspace's other projects as little as a stranger's. */
export async function ensureOwnProjects({ own, test }: Stage): Promise<void> {
  const sibling = await otpApp(test, 'sandbox', { organizationId: own.workspace.organizationId });
  const { id, test_code: code } = (await own.otp.send(nextPhone())).body.data as { id: string; test_code: string };
  for (const [other, unknown] of [
    [await sibling.api.get(`/otp/${id}`), await sibling.api.get(`/otp/${newId()}`)],
    [await sibling.verify(id, code), await sibling.verify(newId(), code)],
  ] as const) {
    expect(plain(other)).toEqual(plain(unknown));
    expect(other.status).toBeGreaterThanOrEqual(400);
  }
  // It has cost no guess: the right project still verifies at once.
  expect((await own.otp.verify(id, code)).status).toBe(200);
}

/** A signed link opens its own file only: not with another workspace, another file, or after the file was deleted. */
export async function ensureOwnLinks(stage: Stage): Promise<void> {
  const { own, foreign, test } = stage;
  const linkOf = async (key: string, id: string) =>
    new URL((await test.api.as(key).get(`/media/${id}/url`)).body.data.url as string);
  const id = await stage.upload();
  const link = await linkOf(own.key, id);
  const theirs = await linkOf(foreign.key, foreign.media.image ?? '');
  const get = async (change: (url: URL) => void): Promise<number> => {
    const url = new URL(link);
    change(url);
    const answer = await fetch(url);
    await answer.arrayBuffer();
    return answer.status;
  };
  expect(await get(() => undefined)).toBe(200);
  for (const name of ['organization', 'signature', 'expires', 'key']) {
    const other = theirs.searchParams.get(name) ?? '';
    if (other === link.searchParams.get(name)) continue;
    expect([name, await get((url) => url.searchParams.set(name, other))]).toEqual([name, 403]);
  }
  expect(await get((url) => (url.pathname = theirs.pathname))).toBe(403);
  expect(await get((url) => (url.pathname = `/media/${own.media.video}/content`))).toBe(403);
  const served = await fetch(link);
  expect(Object.fromEntries(served.headers)).toMatchObject({
    'x-content-type-options': 'nosniff',
    'content-security-policy': expect.stringContaining('sandbox'),
    'content-disposition': expect.stringMatching(/^attachment;/),
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
  });
  await served.arrayBuffer();
  expect((await test.api.as(own.key).request({ method: 'DELETE', path: `/media/${id}` })).status).toBe(204);
  expect(await get(() => undefined)).toBe(404);
}

function idsOf({ body }: ApiResponse): string[] {
  return (body.data as Row[]).map(({ id }) => id);
}

function plain({ status, body }: ApiResponse): unknown {
  return { status, body: { error: { ...body.error, request_id: null } } };
}
