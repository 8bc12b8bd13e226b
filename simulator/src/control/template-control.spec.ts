import { type SimulatorRig, startRig, WABA_ID } from '../../../test/support/simulator/simulator-rig.js';

const LIST = `/v26.0/${WABA_ID}/message_templates`;

describe('a control call about a template', () => {
  let rig: SimulatorRig;
  let id: string;

  beforeEach(async () => {
    rig = await startRig({ templateReviewMs: null });
    [id] = rig.simulator.templates.ofAccount(WABA_ID).map((template) => template.id) as [string];
  });
  afterEach(() => rig.stop());

  const control = (action: string, body: object) => rig.client.control('POST', `templates/${id}/${action}`, body);
  const changes = () => rig.receiver.requests.flatMap(({ body }) => body.entry.flatMap((entry) => entry.changes));
  const next = async () => {
    await rig.receiver.until('a notification', () => changes().length > 0);
    return changes().at(-1) as unknown as { field: string; value: Record<string, unknown> };
  };
  const send = async () => {
    const name = rig.simulator.templates.get(id)?.name ?? 'hello_world';
    const answer = await rig.client.send({ to: '+4915112345678', type: 'template', template: template(name) });
    return answer.json.error?.code;
  };
  const template = (name: string) => ({
    name,
    language: { code: 'en_US' },
    components:
      name === 'hello_world' ? [] : [{ type: 'body', parameters: ['a', 'b'].map((text) => ({ type: 'text', text })) }],
  });

  it('lists the templates of all accounts, with their ids', async () => {
    const { json } = await rig.client.control('GET', 'templates');
    expect(json.data).toContainEqual(expect.objectContaining({ id, waba_id: WABA_ID, status: 'APPROVED' }));
  });

  it.each<[string, string, number | undefined]>([
    ['APPROVED', 'APPROVED', undefined],
    ['REJECTED', 'REJECTED', 132001],
    ['PAUSED', 'PAUSED', 132015],
    ['DISABLED', 'DISABLED', 132016],
    ['FLAGGED', 'FLAGGED', 132001],
    ['REINSTATED', 'APPROVED', undefined],
    ['IN_APPEAL', 'IN_APPEAL', 132001],
    ['PENDING_DELETION', 'PENDING_DELETION', 132001],
    ['ARCHIVED', 'ARCHIVED', 132001],
  ])('%s sets the state to %s, notifies, and a send is answered %s', async (event, status, code) => {
    const answer = await control('review', { event, reason: event === 'REJECTED' ? 'SCAM' : undefined });
    expect(answer.json).toMatchObject({ id, status });
    expect(await next()).toMatchObject({
      field: 'message_template_status_update',
      value: {
        event,
        message_template_id: Number(id),
        reason: event === 'REJECTED' ? 'SCAM' : event === 'PENDING_DELETION' ? null : 'NONE',
      },
    });
    expect(await send()).toBe(code);
  });

  it('of a review can carry more, come from the past, and change things in silence', async () => {
    await control('review', { event: 'DISABLED', time: 1_767_000_000, disable_info: { disable_date: 'July 1, 2026' } });
    expect(await next()).toMatchObject({ value: { disable_info: { disable_date: 'July 1, 2026' } } });
    expect(rig.receiver.requests[0]?.body.entry[0]?.time).toBe(1_767_000_000);
    await control('review', { event: 'PAUSED', notify: false });
    expect(rig.simulator.templates.get(id)?.status).toBe('PAUSED');
    expect((await control('review', { event: 'DELETED' })).json).toMatchObject({ status: 'DELETED' });
    expect((await rig.client.call('GET', `/v26.0/${id}`)).status).toBe(400);
    await rig.receiver.until('the deletion', () => changes().length === 2);
  });

  it('of quality contains the former score too', async () => {
    await control('quality', { score: 'RED' });
    expect(await next()).toMatchObject({
      field: 'message_template_quality_update',
      value: { previous_quality_score: 'UNKNOWN', new_quality_score: 'RED', message_template_id: Number(id) },
    });
    const { json } = await rig.client.call('GET', `/v26.0/${id}?fields=quality_score`);
    expect(json.quality_score).toMatchObject({ score: 'RED' });
  });

  it('of a category announces a change, and makes it', async () => {
    await control('category', { category: 'MARKETING', announced: true });
    expect((await next()).value).toMatchObject({
      new_category: 'UTILITY',
      correct_category: 'MARKETING',
      category_update_timestamp: expect.any(Number),
    });
    expect((await control('category', { category: 'MARKETING' })).json).toMatchObject({
      category: 'MARKETING',
      previous_category: 'UTILITY',
    });
    await rig.receiver.until('the change', () => changes().length === 2);
    expect(changes()[1]).toMatchObject({
      field: 'template_category_update',
      value: { previous_category: 'UTILITY', new_category: 'MARKETING' },
    });
  });

  it('of components replaces them', async () => {
    const components = [
      { type: 'BODY', text: 'All new.' },
      { type: 'BUTTONS', buttons: [{ type: 'URL', text: 'Go', url: 'https://example.com' }] },
    ];
    await control('components', { components });
    expect(await next()).toMatchObject({
      field: 'message_template_components_update',
      value: {
        message_template_element: 'All new.',
        message_template_buttons: [{ message_template_button_type: 'URL', message_template_button_text: 'Go' }],
      },
    });
    expect(rig.simulator.templates.get(id)?.components).toEqual(components);
  });

  it('says nothing about an account whose app does not want it', async () => {
    await rig.client.call('DELETE', `/v26.0/${WABA_ID}/subscribed_apps`);
    await control('review', { event: 'PAUSED' });
    expect((await rig.client.control('GET', 'count')).json.notifications).toMatchObject({
      pending: 0,
      acknowledged: 0,
    });
  });

  it('leaves a template whose name says hold_me alone', async () => {
    const quick = await startRig({ templateReviewMs: 1 });
    const make = async (name: string) => {
      const components = [{ type: 'BODY', text: 'Hello.' }];
      const body = { name, language: 'de', category: 'UTILITY', components };
      return String((await quick.client.call('POST', LIST, body)).json.id);
    };
    const held = await make('hold_me');
    const other = await make('quick');
    await quick.receiver.until('the other', () => quick.receiver.requests.length > 0);
    expect(quick.simulator.templates.get(other)?.status).toBe('APPROVED');
    expect(quick.simulator.templates.get(held)?.status).toBe('PENDING');
    await quick.stop();
  });

  it.each<[string, number, string, object]>([
    ['an unknown template', 404, '1', { event: 'PAUSED' }],
    ['no event', 400, '', {}],
    ['an event that is none', 400, '', { event: 'EATEN' }],
    ['details that are none', 400, '', { event: 'PAUSED', other_info: 'x' }],
  ])('says what is wrong with %s', async (_, status, unknown, body) => {
    const answer = await rig.client.control('POST', `templates/${unknown === '' ? id : unknown}/review`, body);
    expect(answer.status).toBe(status);
    expect((answer.json.error as { message: string }).message).toMatch(/\S/);
  });
});
