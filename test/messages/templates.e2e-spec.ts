import { newId } from '../../src/common/ids.js';
import { testPhone } from '../support/factories.js';
import { startTestApp, type TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { sendingWorkspace, type SendingWorkspace } from './fixture.js';
import { approvedTemplate, bodyValues, templateBody } from './platform-templates.js';
import { reportedFailed } from '../support/reported-failed.js';

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

  it('takes its values alone: text, file and buttons, kept as what is sent; both forms at once are refused', async () => {
    await approvedTemplate(test, workspace, {
      name: 'short',
      components: [
        { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['4::aW1hZ2U='] } },
        { type: 'BODY', text: 'Hello {{1}}, your order {{2}} is on its way.', example: { body_text: [['Ana', '1']] } },
        {
          type: 'BUTTONS',
          buttons: [
            { type: 'QUICK_REPLY', text: 'Thanks' },
            { type: 'URL', text: 'Track', url: 'https://example.com/t/{{1}}', example: ['https://example.com/t/1'] },
          ],
        },
      ],
    });
    const parameters = { header: ['https://example.com/a.jpg'], body: ['Ana', '4711'], buttons: ['4711'] };
    const template = { name: 'short', language: 'en_US', parameters };
    const body = (given: object) => ({ type: 'template', text: undefined, template: given });
    const response = await workspace.send(testPhone(), { body: body(template) });
    expect(response.body.error).toBeUndefined();
    expect(await workspace.reaches(response.body.data.id as string, 'read')).toMatchObject({
      body: 'Hello Ana, your order 4711 is on its way.',
      content: {
        name: 'short',
        language: { code: 'en_US' },
        components: [
          { type: 'header', parameters: [{ type: 'image', image: { link: 'https://example.com/a.jpg' } }] },
          bodyValues('Ana', '4711'),
          { type: 'button', sub_type: 'url', index: '1', parameters: [{ type: 'text', text: '4711' }] },
        ],
      },
    });

    const few = await workspace.send(testPhone(), { body: body({ ...template, parameters: { body: ['Ana'] } }) });
    expect([few.status, few.body.error.code]).toEqual([422, 'TEMPLATE_PARAMETERS_MISMATCH']);
    const both = await workspace.send(testPhone(), { body: body({ ...template, components: ORDER }) });
    expect([both.status, both.body.error.details]).toEqual([
      422,
      [expect.objectContaining({ field: 'template.parameters', rule: 'exclusive' })],
    ]);
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

  it.each([
    ['en-US', 'written en_US'],
    ['EN_us', 'written en_US'],
    ['de', 'only in en_US'],
  ])('that is asked for in %s names the language in which it exists', async (code, words) => {
    const template = { name: 'order_update', language: { code }, components: ORDER };
    const response = await workspace.send(testPhone(), { body: { type: 'template', text: undefined, template } });
    expect(response.status).toBe(422);
    expect(response.body.error).toMatchObject({ code: 'TEMPLATE_NOT_FOUND', available_languages: ['en_US'] });
    expect(response.body.error.message).toContain(words);
  });

  it('with a line break in a value is refused, saying so', async () => {
    const body = templateBody('order_update', [bodyValues('Ana\nLima', '4711')]);
    const { error } = (await workspace.send(testPhone(), { body })).body;
    expect(error).toMatchObject({
      code: 'TEMPLATE_PARAMETERS_MISMATCH',
      expected: { component: 'body', parameter: 1, value: 'single_line' },
      given: { component: 'body', parameter: 1, value: 'line_break' },
    });
    expect(error.message).toContain('The value of parameter 1 in the body holds a line break');
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

  it('is answered by its key whatever its status is now', async () => {
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
    await reportedFailed(test.database, id);
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

    await reportedFailed(test.database, id);
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

it('a template that the platform refuses without a notification is read again', async () => {
  const workspace = await sendingWorkspace(test);
  const template = await approvedTemplate(test, workspace, {
    name: 'unannounced',
    components: [{ type: 'BODY', text: 'Without a notification.' }],
  });
  const send = () => workspace.send(testPhone(), { body: templateBody('unannounced') });
  const first = await send();
  await workspace.reaches(first.body.data.id, 'read');
  await template.review('PAUSED', { notify: false });
  const second = await send();
  expect(second.status).toBe(202);
  expect(await workspace.reaches(second.body.data.id, 'failed')).toMatchObject({
    failure_category: 'template_unavailable',
  });
  await waitFor(async () => (await send()).body.error?.code === 'TEMPLATE_NOT_APPROVED', {
    what: 'the mirror to know that the template is paused',
    everyMs: 500,
  });
});
