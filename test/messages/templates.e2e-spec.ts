import { newId } from '../../src/common/ids.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { approvedTemplate, bodyValues, templateBody } from './platform-templates.js';

let test: TestApp;
let workspace: SendingWorkspace;

beforeAll(async () => {
  test = await startTestApp({ simulator: { templateReviewMs: 20, statusGapMs: 20 } });
  workspace = await sendingWorkspace(test);
});

afterAll(() => test.stop());

const ORDER = [bodyValues('Ana', '4711')];

describe('a template', () => {
  it('goes out as it was given; the journal shows its text', async () => {
    const to = testPhone();
    const response = await workspace.send(to, { body: templateBody('order_update', ORDER) });
    expect(response.status).toBe(202);
    expect(await workspace.reaches(response.body.data.id as string, 'read')).toMatchObject({
      body: 'Hello Ana, your order 4711 is on its way.',
      content: { name: 'order_update', language: { code: 'en_US' }, components: ORDER },
      media_object_id: null,
    });
    expect(test.simulator.messages.list({ to }).at(-1)?.body).toMatchObject({
      template: { name: 'order_update', components: ORDER },
    });
  });

  it('takes its values by name where it was made so', async () => {
    await approvedTemplate(test, workspace, {
      name: 'named',
      parameter_format: 'NAMED',
      components: [
        {
          type: 'BODY',
          text: 'Dear {{first_name}}, see you on {{day}}.',
          example: {
            body_text_named_params: [
              { param_name: 'first_name', example: 'Ana' },
              { param_name: 'day', example: 'Monday' },
            ],
          },
        },
      ],
    });
    const value = (name: string, text: string) => ({ type: 'text', parameter_name: name, text });
    const parameters = [value('day', 'Friday'), value('first_name', 'Bea')];
    const body = templateBody('named', [{ type: 'body', parameters }]);
    const response = await workspace.send(testPhone(), { body });
    expect(response.body.error).toBeUndefined();
    expect(await workspace.reaches(response.body.data.id as string, 'read')).toMatchObject({
      body: 'Dear Bea, see you on Friday.',
    });
  });

  it('that another workspace’s account has is not found', async () => {
    const other = await sendingWorkspace(test);
    await approvedTemplate(test, other, { name: 'theirs', components: [{ type: 'BODY', text: 'For us alone.' }] });
    const response = await workspace.send(testPhone(), { body: templateBody('theirs') });
    expect([response.status, response.body.error.code]).toEqual([422, 'TEMPLATE_NOT_FOUND']);
  });

  it('that is not there in this language is not found', async () => {
    const template = { name: 'order_update', language: { code: 'de' }, components: ORDER };
    const response = await workspace.send(testPhone(), { body: { type: 'template', text: undefined, template } });
    expect([response.status, response.body.error.code]).toEqual([422, 'TEMPLATE_NOT_FOUND']);
  });

  it('with other values than it takes is refused, saying what it takes', async () => {
    const to = testPhone();
    const key = newId();
    const response = await workspace.send(to, { key, body: templateBody('order_update', [bodyValues('Ana')]) });
    expect([response.status, response.body.error]).toEqual([
      422,
      expect.objectContaining({
        code: 'TEMPLATE_PARAMETERS_MISMATCH',
        expected: expect.objectContaining({ parameters: 2 }) as object,
        given: expect.objectContaining({ parameters: 1 }) as object,
      }),
    ]);
    const kept = await test.database.query('select 1 from conversation where phone = $1', [to]);
    expect(kept).toEqual([]);
    // The key is still free.
    expect((await workspace.send(to, { key, body: templateBody('order_update', ORDER) })).status).toBe(202);
  });

  it('is answered by its key whatever has become of it since', async () => {
    const template = await approvedTemplate(test, workspace, {
      name: 'soon_gone',
      components: [{ type: 'BODY', text: 'Only today.' }],
    });
    const [to, key, body] = [testPhone(), newId(), templateBody('soon_gone')];
    const first = await workspace.send(to, { key, body });
    expect(first.status).toBe(202);
    await template.review('PAUSED');
    await refusedAs('TEMPLATE_NOT_APPROVED', body);
    const again = await workspace.send(to, { key, body });
    expect([again.status, again.body.data, again.headers.get('idempotency-replayed')]).toEqual([
      202,
      first.body.data,
      'true',
    ]);
    const other = await workspace.send(to, { key, body: templateBody('order_update', ORDER) });
    expect([other.status, other.body.error.code]).toEqual([409, 'IDEMPOTENCY_KEY_REUSED']);
  });
});

describe('a retry', () => {
  it('of a template that may be sent again goes out; of one that may not is refused with 409', async () => {
    const template = await approvedTemplate(test, workspace, {
      name: 'offer',
      components: [{ type: 'BODY', text: 'Our offer of today.' }],
    });
    const response = await workspace.send(testPhone(), { body: templateBody('offer') });
    expect(response.status).toBe(202);
    const id = response.body.data.id as string;
    await workspace.reaches(id, 'read');
    await test.database.execute(`update message set status = 'failed' where id = $1`, [id]);
    const retry = () => workspace.api.post(`/messages/${id}/retry`);

    await template.review('PAUSED');
    await refusedAs('TEMPLATE_NOT_APPROVED', templateBody('offer'));
    const paused = await retry();
    expect([paused.status, paused.body.error]).toEqual([
      409,
      expect.objectContaining({ code: 'TEMPLATE_NOT_APPROVED', template_status: 'paused' }),
    ]);

    await template.review('REINSTATED');
    await takenAgain(templateBody('offer'));
    expect((await retry()).status).toBe(202);
    await workspace.reaches(id, 'read');

    await test.database.execute(`update message set status = 'failed' where id = $1`, [id]);
    await template.review('DELETED');
    await refusedAs('TEMPLATE_NOT_FOUND', templateBody('offer'));
    const gone = await retry();
    expect([gone.status, gone.body.error.code]).toEqual([409, 'TEMPLATE_NOT_FOUND']);
    expect(await workspace.message(id)).toMatchObject({ status: 'failed' });
  });
});

/** Waits until the platform's decision has come to Herald. */
async function refusedAs(code: string, body: Record<string, unknown>): Promise<void> {
  await waitFor(async () => (await workspace.send(testPhone(), { body })).body.error?.code === code, { what: code });
}

async function takenAgain(body: Record<string, unknown>): Promise<void> {
  await waitFor(async () => (await workspace.send(testPhone(), { body })).status === 202, {
    what: 'it to be taken again',
  });
}
