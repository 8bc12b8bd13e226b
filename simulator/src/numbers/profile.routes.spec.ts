import {
  PHONE_NUMBER_ID,
  SECOND_PHONE_NUMBER_ID,
  type SimulatorRig,
  startRig,
} from '../../../test/support/simulator/simulator-rig.js';

const PATH = `/v26.0/${PHONE_NUMBER_ID}/whatsapp_business_profile`;
const ALL = 'about,address,description,email,profile_picture_url,websites,vertical';

describe('a profile', () => {
  let rig: SimulatorRig;

  beforeEach(async () => {
    rig = await startRig();
  });
  afterEach(() => rig.stop());

  const write = (body: object) => rig.client.call('POST', PATH, { messaging_product: 'whatsapp', ...body });
  const read = async (fields = ALL, path = PATH) => {
    const { json } = await rig.client.call('GET', `${path}?fields=${fields}`);
    return (json.data as Record<string, unknown>[])[0];
  };

  it('has only what was set, and keeps what a later change leaves out', async () => {
    expect(await read()).toEqual({ messaging_product: 'whatsapp' });
    expect((await write({ about: 'Open daily', websites: ['https://example.com/'] })).json).toEqual({ success: true });
    await write({ vertical: 'retail', email: 'a@example.com' });
    const profile = {
      messaging_product: 'whatsapp',
      about: 'Open daily',
      websites: ['https://example.com/'],
      vertical: 'RETAIL',
      email: 'a@example.com',
    };
    expect(await read()).toEqual(profile);
    expect(await read('about')).toEqual({ messaging_product: 'whatsapp', about: 'Open daily' });
    expect(await read(ALL, PATH.replace(PHONE_NUMBER_ID, SECOND_PHONE_NUMBER_ID))).toEqual({
      messaging_product: 'whatsapp',
    });
  });

  it('loses a field that is emptied, but never its about', async () => {
    await write({ about: 'a', email: 'a@example.com', websites: ['https://example.com'], description: 'd' });
    await write({ email: '', websites: [], description: '' });
    expect(await read()).toEqual({ messaging_product: 'whatsapp', about: 'a' });
  });

  it('shows an address for the picture that a handle names', async () => {
    await write({ profile_picture_handle: '4::aW1hZ2U=' });
    expect(await read('profile_picture_url')).toMatchObject({
      profile_picture_url: expect.stringMatching(/^https:\/\/pps\.whatsapp\.net\//),
    });
  });

  it.each<[string, object]>([
    ['no product', { messaging_product: undefined, about: 'a' }],
    ['an empty about', { about: ' ' }],
    ['an about of 140 characters', { about: 'x'.repeat(140) }],
    ['an address of 257 characters', { address: 'x'.repeat(257) }],
    ['a description of 513 characters', { description: 'x'.repeat(513) }],
    ['an email that is none', { email: 'a@b' }],
    ['an email of 129 characters', { email: `${'x'.repeat(117)}@example.com` }],
    ['three websites', { websites: ['https://a.co', 'https://b.co', 'https://c.co'] }],
    ['a website without its scheme', { websites: ['example.com'] }],
    ['websites that are none', { websites: 'https://a.co' }],
    ['a vertical that is none', { vertical: 'SHOES' }],
    ['the vertical that is only read', { vertical: 'UNDEFINED' }],
    ['a text that is none', { about: 5 }],
    ['a picture that is no handle', { profile_picture_handle: 'https://example.com/a.jpg' }],
  ])('with %s is refused, and nothing is changed', async (_, body) => {
    const answer = await write({ address: 'Road 1', ...body });
    expect([answer.status, answer.json.error?.code]).toEqual([400, 100]);
    expect(await read()).toEqual({ messaging_product: 'whatsapp' });
  });

  it('has no other fields', async () => {
    expect((await rig.client.call('GET', `${PATH}?fields=about,age`)).json.error?.code).toBe(100);
    expect((await rig.client.call('GET', PATH)).json.data).toEqual([{ messaging_product: 'whatsapp' }]);
  });
});
