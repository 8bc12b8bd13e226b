import * as fc from 'fast-check';
import { runs } from '../../../test/support/runs.js';
import { anyText } from '../../../test/support/any-text.js';
import { parseWebhookBody, parseWebhookPayload, type WebhookPayload } from './webhook-payload.js';

const METADATA = { display_phone_number: '5511400000000', phone_number_id: '106540352242922' };

function changeOf(value: unknown, field = 'messages'): object {
  return { field, value };
}

function payloadOf(...changes: unknown[]): object {
  return { object: 'whatsapp_business_account', entry: [{ id: '102290129340398', changes }] };
}

function parseMessages(value: object): WebhookPayload {
  return parseWebhookPayload(payloadOf(changeOf({ messaging_product: 'whatsapp', metadata: METADATA, ...value })));
}

function statusOf(id: string, more: object = {}): Record<string, unknown> {
  return { id, status: 'delivered', timestamp: '1767000000', recipient_id: '5511999990000', ...more };
}

function messageOf(type: string, more: object = {}): Record<string, unknown> {
  return { from: '5511999990000', id: 'wamid.IN', timestamp: '1767000000', type, ...more };
}

const NOTHING = {
  statuses: [],
  inbound: [],
  calls: [],
  handovers: [],
  echoes: [],
  management: [],
  named: [],
  news: [],
  unknown: [],
  unused: [],
};

describe('a status', () => {
  it('is read whole', () => {
    const raw = statusOf('wamid.OUT', {
      recipient_user_id: 'BR.1349',
      biz_opaque_callback_data: 'attempt-7',
      pricing: { billable: true, type: 'regular' },
    });
    expect(parseMessages({ statuses: [raw] })).toEqual({
      ...NOTHING,
      named: ['5511999990000', 'BR.1349'],
      statuses: [
        {
          phoneNumberId: '106540352242922',
          metaMessageId: 'wamid.OUT',
          status: 'delivered',
          occurredAt: new Date('2025-12-29T09:20:00Z'),
          recipientId: '5511999990000',
          recipientUserId: 'BR.1349',
          callbackData: 'attempt-7',
          error: null,
          pricing: { billable: true, category: null, type: 'regular', subtype: null, model: null },
        },
      ],
    });
  });

  it.each<[string, unknown, object | null]>([
    [
      'whole',
      { billable: true, pricing_model: 'PMP', type: 'regular', category: 'service', subtype: 'paid_exempt' },
      { billable: true, model: 'PMP', type: 'regular', category: 'service', subtype: 'paid_exempt' },
    ],
    [
      'without `billable`, which is to go',
      { type: 'free_customer_service', category: 'service' },
      { billable: null, model: null, type: 'free_customer_service', category: 'service', subtype: null },
    ],
    ['that says nothing', { billable: true, type: '', category: 7 }, null],
    ['that is no object', 'regular', null],
  ])('has its price %s', (_name, pricing, expected) => {
    expect(parseMessages({ statuses: [statusOf('w', { pricing })] }).statuses[0]?.pricing).toEqual(expected);
  });

  it('of failure contains the first error', () => {
    const errors = [
      { code: 131049, title: 'Withheld', message: 'Withheld', error_data: { details: 'To keep the peace.' } },
      { code: 1 },
    ];
    expect(parseMessages({ statuses: [statusOf('w', { status: 'failed', errors })] }).statuses[0]).toMatchObject({
      status: 'failed',
      error: { code: 131049, title: 'Withheld', details: 'To keep the peace.' },
    });
  });

  it.each<[string, unknown, object | null]>([
    ['none', undefined, null],
    ['null', null, null],
    ['an empty list', [], null],
    ['an object instead of a list', { code: '131026', message: 'm' }, { code: 131026, title: 'm', details: null }],
    ['a plain string as data', [{ code: 1, error_data: 'd' }], { code: 1, title: null, details: 'd' }],
    ['nothing readable', [null, 'x', { code: {} }], { code: null, title: null, details: null }],
  ])('of failure with errors: %s', (_name, errors, expected) => {
    expect(parseMessages({ statuses: [statusOf('w', { status: 'failed', errors })] }).statuses[0]?.error).toEqual(
      expected,
    );
  });

  it('`played` counts as read', () => {
    expect(parseMessages({ statuses: [statusOf('w', { status: 'played' })] }).statuses[0]).toMatchObject({
      metaMessageId: 'w',
      status: 'read',
    });
  });

  it.each<[string, Record<string, unknown>, string, string]>([
    [
      'an unknown value',
      statusOf('w', { status: 'warmed_up' }),
      'messages.statuses[warmed_up]',
      'the status "warmed_up" is not known',
    ],
    [
      'the name of an inherited property',
      statusOf('w', { status: 'constructor' }),
      'messages.statuses[constructor]',
      'the status "constructor" is not known',
    ],
    ['no value', statusOf('w', { status: null }), 'messages.statuses', 'the status object is not known'],
    ['no id', statusOf(''), 'messages.statuses', 'a status without the id of its message'],
  ])('with %s is kept as unknown', (_name, raw, field, reason) => {
    expect(parseMessages({ statuses: [raw, statusOf('sibling')] })).toMatchObject({
      statuses: [{ metaMessageId: 'sibling' }],
      unknown: [{ field, reason }],
    });
  });

  it.each<[unknown, string | null]>([
    ['1767000000', '2025-12-29T09:20:00.000Z'],
    [1767000000, '2025-12-29T09:20:00.000Z'],
    ['0', null],
    ['-5', null],
    ['1767000000000000', null],
    [1e300, null],
    [1.5, null],
    ['soon', null],
    [null, null],
    [{}, null],
  ])('with the time %j is of %s', (timestamp, expected) => {
    expect(
      parseMessages({ statuses: [statusOf('w', { timestamp })] }).statuses[0]?.occurredAt?.toISOString() ?? null,
    ).toBe(expected);
  });

  it('of a group or a user id has no number', () => {
    expect(
      parseMessages({ statuses: [statusOf('w', { recipient_id: 'Y2FwaV9ncm91cDox' })] }).statuses[0]?.recipientId,
    ).toBeNull();
    expect(
      parseMessages({ statuses: [statusOf('w', { recipient_id: undefined })] }).statuses[0]?.recipientId,
    ).toBeNull();
  });

  it('without metadata is still read: its id or its callback data finds the message', () => {
    const payload = parseWebhookPayload(payloadOf(changeOf({ statuses: [statusOf('w')] })));
    expect(payload.statuses).toMatchObject([{ metaMessageId: 'w', phoneNumberId: null }]);
  });
});

describe('an inbound message', () => {
  const contacts = [{ profile: { name: 'Ana', username: 'ana.l' }, wa_id: '5511999990000', user_id: 'BR.1' }];

  it('is read whole', () => {
    const raw = messageOf('text', {
      from_user_id: 'BR.1',
      text: { body: 'oi' },
      context: { from: '5511400000000', id: 'wamid.OUT' },
    });
    expect(parseMessages({ contacts, messages: [raw] }).inbound).toEqual([
      {
        phoneNumberId: '106540352242922',
        metaMessageId: 'wamid.IN',
        from: '5511999990000',
        userId: 'BR.1',
        profileName: 'Ana',
        occurredAt: new Date('2025-12-29T09:20:00Z'),
        type: 'text',
        content: { body: 'oi' },
        body: 'oi',
        context: { username: 'ana.l' },
        contextMessageId: 'wamid.OUT',
        opensWindow: true,
      },
    ]);
  });

  it.each<[string, object, string | null]>([
    ['text', { text: { body: 'oi' } }, 'oi'],
    ['image', { image: { id: '1', caption: 'Nota' } }, 'Nota'],
    ['video', { video: { id: '1' } }, null],
    ['document', { document: { id: '1', filename: 'a.pdf', caption: 'c' } }, 'c'],
    ['audio', { audio: { id: '1', voice: true } }, null],
    ['sticker', { sticker: { id: '1' } }, null],
    ['location', { location: { latitude: 1, longitude: 2, name: 'Loja' } }, null],
    ['contacts', { contacts: [{ name: { formatted_name: 'Ana' } }] }, null],
    ['button', { button: { payload: 'STOP', text: 'Parar' } }, 'Parar'],
    ['interactive', { interactive: { type: 'button_reply', button_reply: { id: 'yes', title: 'Sim' } } }, 'Sim'],
    [
      'interactive',
      { interactive: { type: 'list_reply', list_reply: { id: 's1', title: 'Via', description: 'd' } } },
      'Via',
    ],
    [
      'interactive',
      { interactive: { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{}' } } },
      'Sent',
    ],
    ['interactive', { interactive: { type: 'call_permission_reply' } }, null],
    ['reaction', { reaction: { message_id: 'wamid.X', emoji: '👍' } }, '👍'],
    ['reaction', { reaction: { message_id: 'wamid.X', emoji: '' } }, ''],
    ['reaction', { reaction: { message_id: 'wamid.X' } }, null],
    ['order', { order: { catalog_id: '1', text: 'please', product_items: [] } }, 'please'],
  ])('of type %s (%j) shows %j', (type, more, body) => {
    const given = (more as Record<string, unknown>)[type];
    const content = Array.isArray(given) ? { [type]: given } : given;
    expect(parseMessages({ contacts, messages: [messageOf(type, more)] }).inbound).toMatchObject([
      { type, content, body, opensWindow: true },
    ]);
  });

  it.each(['system', 'edit', 'revoke'])('of type %s opens no window', (type) => {
    expect(parseMessages({ messages: [messageOf(type, { [type]: { body: 'b' } })] }).inbound).toMatchObject([
      { type, opensWindow: false, content: { body: 'b' } },
    ]);
  });

  it('said in a group opens no window with its author', () => {
    expect(
      parseMessages({ messages: [messageOf('text', { group_id: 'g', text: { body: 'b' } })] }).inbound,
    ).toMatchObject([{ opensWindow: false, body: 'b' }]);
  });

  it.each<[string, Record<string, unknown>, Record<string, unknown> & { type?: string }]>([
    [
      'no type',
      messageOf('text', { type: undefined, text: { body: 'b' } }),
      { type: 'unknown', content: { text: { body: 'b' } }, body: null },
    ],
    [
      'a type of its own',
      messageOf('hologram', { hologram: { x: 1 } }),
      { type: 'hologram', content: { x: 1 }, body: null },
    ],
    ['a type that all objects inherit', messageOf('__proto__'), { type: '__proto__', content: {}, body: null }],
    ['a type that objects inherit', messageOf('constructor'), { type: 'constructor', content: {}, body: null }],
    ['content that is a string', messageOf('text', { text: 'oi' }), { content: { text: 'oi' }, body: null }],
    [
      'content that is a list',
      messageOf('text', { text: [{ body: 'oi' }] }),
      { content: { text: [{ body: 'oi' }] }, body: null },
    ],
    ['a body that is a number', messageOf('text', { text: { body: 7 } }), { content: { body: 7 }, body: null }],
    ['a context without an id', messageOf('text', { context: { forwarded: true } }), { contextMessageId: null }],
    ['a context of null', messageOf('text', { context: null }), { contextMessageId: null }],
    ['a number with a plus', messageOf('text', { from: '+5511' }), { from: '5511' }],
    ['no number', messageOf('text', { from: undefined, from_user_id: 'BR.2' }), { from: null, userId: 'BR.2' }],
    ['neither number nor user', messageOf('text', { from: undefined }), { from: null, userId: null }],
    [
      'unsupported content',
      messageOf('unsupported', { errors: [{ code: 131051 }], unsupported: { type: 'poll' } }),
      { content: { type: 'poll', errors: [{ code: 131051 }] } },
    ],
  ])('with %s', (_name, raw, expected) => {
    const unknown = expected.type === undefined ? [] : [{ field: `messages.messages[${expected.type}]` }];
    expect(parseMessages({ messages: [raw] })).toMatchObject({ inbound: [expected], unknown });
  });

  it('without an id is kept as unknown', () => {
    expect(
      parseMessages({ messages: [messageOf('text', { id: null }), messageOf('text', { id: 'sibling' })] }),
    ).toMatchObject({
      inbound: [{ metaMessageId: 'sibling' }],
      unknown: [{ field: 'messages.messages', reason: 'a message without an id' }],
    });
  });

  describe('finds its contact', () => {
    const two = [
      { wa_id: '5511111111111', user_id: 'BR.1', profile: { name: 'One' } },
      { wa_id: '5511222222222', user_id: 'BR.2', profile: { name: 'Two' } },
    ];
    it.each<[string, unknown, object, object]>([
      ['by number', two, { from: '5511222222222' }, { profileName: 'Two', userId: 'BR.2' }],
      ['by user id', two, { from: undefined, from_user_id: 'BR.1' }, { profileName: 'One', from: '5511111111111' }],
      [
        'not among other contacts',
        two,
        { from: '5511333333333' },
        { profileName: null, from: '5511333333333', userId: null },
      ],
      [
        'as the only one, written another way',
        [{ wa_id: '551199990000', profile: { name: 'Ana' } }],
        {},
        { from: '5511999990000', profileName: 'Ana' },
      ],
      [
        'not as the only one with another user id',
        [{ user_id: 'BR.9', profile: { name: 'X' } }],
        { from_user_id: 'BR.1' },
        { profileName: null, userId: 'BR.1' },
      ],
      ['without a profile', [{ wa_id: '5511999990000' }], {}, { from: '5511999990000', profileName: null }],
      [
        'with a profile of null',
        [{ wa_id: '5511999990000', profile: null }],
        {},
        { from: '5511999990000', profileName: null },
      ],
      [
        'in an object instead of a list',
        { wa_id: '5511999990000', profile: { name: 'Ana' } },
        {},
        { profileName: 'Ana' },
      ],
      ['nowhere', undefined, { from: undefined }, { from: null, profileName: null }],
      [
        'among rubbish',
        [null, 7, 'x', [], { wa_id: '5511999990000', profile: { name: 'Ana' } }],
        {},
        { profileName: 'Ana' },
      ],
    ])('%s', (_name, contacts, more, expected) => {
      expect(parseMessages({ contacts, messages: [messageOf('text', more)] }).inbound).toMatchObject([expected]);
    });
  });
});

describe('management', () => {
  it('is handed on with its field, its time and its object', () => {
    const value = { event: 'REJECTED', message_template_id: 1689556908129835, message_template_name: 'x' };
    const payload = {
      object: 'whatsapp_business_account',
      entry: [{ id: '1', time: 1751247548, changes: [changeOf(value, 'message_template_status_update')] }],
    };
    expect(parseWebhookPayload(payload)).toEqual({
      ...NOTHING,
      management: [
        {
          field: 'message_template_status_update',
          wabaId: '1',
          phoneNumberId: null,
          occurredAt: new Date(1751247548_000),
          value,
        },
      ],
    });
  });

  it('knows errors that belong to no message', () => {
    const errors = [{ code: 130429, title: 'Rate limit hit' }];
    const { management, news, unused } = parseMessages({ errors });
    expect(management).toMatchObject([
      { field: 'messages.errors', phoneNumberId: '106540352242922', value: errors[0] },
    ]);
    expect(news).toMatchObject([{ kind: 'error', phoneNumberId: '106540352242922', code: 130429 }]);
    expect(unused).toEqual([]);
  });

  it('a payment that failed, or a note, is no status of its message', () => {
    const { statuses, news, unknown } = parseMessages({
      statuses: [
        statusOf('w', { status: 'failed', type: 'payment', payment: { reference_id: 'order-1' } }),
        statusOf('w', { status: 'deleted' }),
        statusOf('w', { status: 'warning', errors: [{ code: 131049 }] }),
      ],
    });
    expect([statuses, unknown]).toEqual([[], []]);
    expect(news).toMatchObject([
      { kind: 'payment', metaMessageId: 'w', status: 'failed', payment: { reference_id: 'order-1' } },
      { kind: 'note', metaMessageId: 'w', note: 'deleted', code: null },
      { kind: 'note', metaMessageId: 'w', note: 'warned', code: 131049 },
    ]);
  });

  it('names a field that it does not know', () => {
    expect(parseWebhookPayload(payloadOf(changeOf({}, 'holograms'), changeOf({}, 'account_update')))).toMatchObject({
      management: [{ field: 'account_update' }],
      unknown: [{ field: 'holograms', reason: 'the field "holograms" is not known' }],
    });
  });
});

describe('names that are not known', () => {
  const unknownOf = ({ unknown }: WebhookPayload) => unknown.map(({ field }) => field);

  it.each<[string, object, string[]]>([
    ['a key beside messages', { hologram_actions: [] }, ['messages.hologram_actions']],
    ['a key of a contact', { contacts: [{ wa_id: '1', aura: 'blue' }] }, ['messages.contacts.aura']],
    ['a key of a status', { statuses: [statusOf('w', { weight: 1 })] }, ['messages.statuses.weight']],
    ['a key of a message', { messages: [messageOf('text', { text: {}, mood: 1 })] }, ['messages.messages.mood']],
    ['a type of message', { messages: [messageOf('hologram', { hologram: {} })] }, ['messages.messages[hologram]']],
    [
      'a kind of answer',
      { messages: [messageOf('interactive', { interactive: { type: 'nod' } })] },
      ['interactive[nod]'],
    ],
    ['a system message', { messages: [messageOf('system', { system: { type: 'moved' } })] }, ['system[moved]']],
    ['signs', { 'a b\n\u0000"': 1 }, ['messages.a?b???']],
  ])('%s is named', (_what, value, names) => {
    const payload = parseMessages(value);
    expect(unknownOf(payload)).toEqual(names);
    expect(payload.unused).toEqual([]);
  });

  it('an event of an account is named', () => {
    expect(unknownOf(parseWebhookPayload(payloadOf(changeOf({ event: 'MOVED' }, 'account_update'))))).toEqual([
      'account_update[MOVED]',
    ]);
  });

  it('what is known but not used is named apart', () => {
    const payload = parseWebhookPayload(
      payloadOf(
        changeOf({ event: 'x' }, 'flows'),
        changeOf({ user_actions: [], statuses: [statusOf('w', { template_id: 1 })] }),
      ),
    );
    expect(payload.unused).toEqual(['flows', 'messages.user_actions', 'messages.statuses.template_id']);
    expect(payload.unknown).toEqual([]);
  });
});

describe('a body', () => {
  it.each<[string, string]>([
    ['', 'the body is not JSON'],
    ['{"object":', 'the body is not JSON'],
    ['null', 'the body is not an object but null'],
    ['[]', 'the body is not an object but an array'],
    ['7', 'the body is not an object but a number'],
    ['{}', 'there is no entry'],
    ['{"object":"page","entry":[]}', 'the object "page" is not known'],
    ['{"entry":7}', 'the list is not an array but a number'],
    ['{"entry":[{"id":"1","changes":[{"field":"messages","value":null}]}]}', 'the value is not an object but null'],
    ['{"entry":[{"id":"1","changes":[{"value":{}}]}]}', 'the field "" is not known'],
    ['{"entry":[{"id":"1","changes":[null]}]}', 'an item is not an object but null'],
  ])('%j: %s', (body, reason) => {
    expect(parseWebhookBody(Buffer.from(body))).toMatchObject({ ...NOTHING, unknown: [{ reason }] });
  });

  it('of many entries and changes loses none, statuses beside messages in one change included', () => {
    const both = (n: number): object =>
      changeOf({
        metadata: METADATA,
        messages: [messageOf('text', { id: `in${n}` })],
        statuses: [statusOf(`a${n}`), statusOf(`b${n}`)],
      });
    const entry = [
      { id: '1', changes: [both(1), both(2)] },
      { id: '2', changes: [] },
      { id: '3', changes: [both(3)] },
    ];
    const { statuses, inbound } = parseWebhookPayload({ object: 'whatsapp_business_account', entry });
    expect(statuses.map(({ metaMessageId }) => metaMessageId)).toEqual(['a1', 'b1', 'a2', 'b2', 'a3', 'b3']);
    expect(inbound.map(({ metaMessageId }) => metaMessageId)).toEqual(['in1', 'in2', 'in3']);
  });

  it('holds nothing that a database refuses', () => {
    const raw = messageOf('text', { text: { body: 'a\u0000b\ud800', 'k\u0000': 1 } });
    const payload = parseMessages({
      contacts: [{ wa_id: '5511999990000', profile: { name: 'A\u0000' } }],
      messages: [raw],
    });
    expect(payload.inbound[0]).toMatchObject({
      body: 'a\uFFFDb\uFFFD',
      profileName: 'A\uFFFD',
      content: { 'k\uFFFD': 1 },
    });
    expect(JSON.stringify(payload)).not.toMatch(/\\u0000|\\ud800/);
  });

  it('holds no half of a character where a text is cut', () => {
    const pricing = { category: `${'a'.repeat(63)}\u{1F600}` };
    const passed = {
      type: 'control_passed',
      metadata: METADATA,
      sender: { phone_number: '5511999990000' },
      control_passed: { metadata: `${'a'.repeat(3_999)}\u{1F600}` },
    };
    const statuses = [statusOf('s', { pricing })];
    const payload = parseWebhookPayload(
      payloadOf(changeOf({ metadata: METADATA, statuses }), changeOf(passed, 'messaging_handovers')),
    );
    expect(payload.statuses[0]?.pricing?.category).toBe(`${'a'.repeat(63)}\uFFFD`);
    expect(payload.handovers[0]?.note).toBe(`${'a'.repeat(3_999)}\uFFFD`);
  });

  it('that nests without end costs neither the stack nor its neighbours', () => {
    const deep = `${'{"a":'.repeat(100_000)}"\\u0000"${'}'.repeat(100_000)}`;
    const body = `{"entry":[{"id":"1","changes":[{"field":"messages","value":{"messages":[{"id":"m","type":"text","text":${deep}}],"statuses":[${JSON.stringify(statusOf('s'))}]}}]}]}`;
    const payload = parseWebhookBody(body);
    expect(payload.inbound).toMatchObject([{ metaMessageId: 'm' }]);
    expect(payload.statuses).toMatchObject([{ metaMessageId: 's' }]);
    expect(() => JSON.stringify(payload)).not.toThrow();
  });

  it('with `__proto__` among its keys changes no prototype', () => {
    const body =
      '{"entry":[{"id":"1","changes":[{"field":"messages","value":{"messages":[{"id":"m\\u0000","type":"__proto__","__proto__":{"polluted":"\\u0000"}}]}}]}]}';
    const [message] = parseWebhookBody(body).inbound;
    expect(message).toMatchObject({ type: '__proto__', content: { polluted: '\uFFFD' } });
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(Object.getPrototypeOf(message?.content)).toBe(Object.prototype);
  });
});

describe('whatever comes', () => {
  /** Words of the format at every depth, so that the walk gets somewhere. */
  const word = fc.constantFrom(
    'object',
    'entry',
    'changes',
    'field',
    'value',
    'messages',
    'statuses',
    'contacts',
    'metadata',
    'errors',
    'id',
    'type',
    'text',
    'status',
    'context',
    'profile',
    '__proto__',
    'timestamp',
    'from',
  );
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof(
      { depthSize: 'medium', withCrossShrink: true },
      fc.oneof(
        fc.constantFrom<unknown>(null, 'messages', 'sent', 'whatsapp_business_account', 'text', 7, -1, true, '\u0000'),
        anyText(),
      ),
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(word, fc.string()), tie('tree'), { maxKeys: 6 }),
    ),
  }));

  it('never throws, on any JSON', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), tree), (value) => {
        const payload = parseWebhookBody(JSON.stringify(value));
        expect(() => JSON.stringify(payload)).not.toThrow();
      }),
      { numRuns: runs(500) },
    );
  });

  it('never throws, on any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array(), (bytes) => expect(parseWebhookBody(Buffer.from(bytes)).statuses).toEqual([])),
    );
  });

  it('every valid status among unknown fields is returned, once and in order', () => {
    const item = fc.oneof(
      { weight: 2, arbitrary: fc.constant('good') },
      { weight: 1, arbitrary: tree.map((value) => ({ value })) },
    );
    const change = fc.record({
      items: fc.array(item, { maxLength: 6 }),
      beside: tree,
      metadata: tree,
      contacts: tree,
      messages: tree,
    });
    const entry = fc.record({
      id: tree,
      changes: fc.array(
        fc.oneof(
          change,
          tree.map((stranger) => ({ stranger })),
        ),
        { maxLength: 4 },
      ),
    });
    fc.assert(
      fc.property(
        fc.array(
          fc.oneof(
            entry,
            tree.map((stranger) => ({ stranger })),
          ),
          { maxLength: 4 },
        ),
        (entries) => {
          const good: string[] = [];
          const body = {
            object: 'whatsapp_business_account',
            entry: entries.map((each) => {
              if (!('changes' in each)) {
                return wrap(each.stranger);
              }
              return {
                id: each.id,
                changes: each.changes.map((item) => {
                  if (!('items' in item)) {
                    return wrap(item.stranger);
                  }
                  const statuses = item.items.map((status) => {
                    if (typeof status !== 'string') {
                      return wrap(status.value);
                    }
                    good.push(`good-${good.length}`);
                    return statusOf(good.at(-1) ?? '', { beside: item.beside });
                  });
                  return changeOf({
                    statuses,
                    metadata: item.metadata,
                    contacts: item.contacts,
                    messages: item.messages,
                  });
                }),
              };
            }),
          };
          const ids = parseWebhookBody(JSON.stringify(body)).statuses.map(({ metaMessageId }) => metaMessageId);
          expect(ids.filter((id) => id.startsWith('good-'))).toEqual(good);
        },
      ),
      { numRuns: runs(300) },
    );
  });

  /** An unknown field that contains `good-` by chance is excluded. */
  function wrap(value: unknown): unknown {
    return JSON.stringify(value)?.includes('good-') ? null : value;
  }
});
