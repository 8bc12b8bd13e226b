// What each published client does with the simulator, and with Herald, as its own documentation writes it. Every step throws
// where the answer is not what the client's caller needs; scripts/test-published-clients.mjs runs them one by one.
import assert from 'node:assert/strict';

export const PHONE = '106540352242922';
const WABA = '102290129340398';
let TO = '+4915112345678';
let TOKEN = 'a-token';
let MESSAGE_ID = /^wamid\./;
let FILE_ID = /^\d+$/;
/** Ids of what was taken. */
let takenIds = [];

/**
 * Whom the clients call from now on: Herald with this key, to this recipient. Its ids are UUIDs.
 *
 * @returns {string[]} grows with the ids of the messages that are taken
 */
export function callHerald({ key, to }) {
  TOKEN = key;
  TO = to;
  MESSAGE_ID = FILE_ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
  takenIds = [];
  return takenIds;
}

/** What Herald leaves to its own API or to the platform, and refuses or does not know here. */
export const NOT_OF_HERALD = {
  '@kapso/whatsapp-cloud-api': [
    'a request to call',
    'create a template',
    'list templates',
    'delete a template',
    'write the profile',
    'read the profile',
    'deregister and register',
    'calling settings',
    'may not call',
    'create and publish a flow',
    'list flows',
    'preview and deprecate a flow',
  ],
  '@great-detail/whatsapp': [
    'create a template',
    'read a template',
    'list templates',
    'list the library',
    'delete a template',
    'write the profile',
    'read the profile',
    'read a number',
    'read the account',
    'subscribe the app',
  ],
  'whatsapp-api-js': [
    'a request to call',
    'create a QR code',
    'read and change a QR code',
    'delete a QR code',
    'block and unblock',
  ],
};

const LINK = 'https://example.com/file';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const WEBHOOK = 'https://example.com/flow';
const png = () => new File([PNG], 'pixel.png', { type: 'image/png' });
const buttonsOf = [
  { id: 'yes', title: 'Yes' },
  { id: 'no', title: 'No' },
];
const rows = [
  { id: 'r1', title: 'One', description: 'The first' },
  { id: 'r2', title: 'Two', description: 'The second' },
];
const ORDER_UPDATE = [
  {
    type: 'body',
    parameters: [
      { type: 'text', text: 'Ana' },
      { type: 'text', text: '4711' },
    ],
  },
];
const draft = (name) => ({
  name,
  language: 'en_US',
  category: 'UTILITY',
  components: [
    { type: 'BODY', text: 'Hello {{1}}, your parcel is here.', example: { body_text: [['Ana']] } },
    { type: 'FOOTER', text: 'Lucky Shrub' },
    { type: 'BUTTONS', buttons: [{ type: 'QUICK_REPLY', text: 'Thanks' }] },
  ],
});

/** The message's id, once the answer has the platform's shape. */
function taken(answer) {
  assert.equal(answer.error, undefined, JSON.stringify(answer.error));
  assert.match(answer.messages?.[0]?.id ?? '', MESSAGE_ID);
  assert.ok(answer.contacts?.[0]);
  takenIds.push(answer.messages[0].id);
  return answer.messages[0].id;
}

function succeeded(answer) {
  assert.equal(answer.success, true, JSON.stringify(answer));
}

const sameBytes = (bytes) => assert.deepEqual(Buffer.from(bytes), PNG);

/**
 * `address`: the simulator's, or the base URL of Herald's surface. `customerWrites()` gives the id of a message that a customer
 * has just written. `tls`: port and certificate of `localhost`, which leads to the same place.
 */
export const CLIENTS = {
  async '@kapso/whatsapp-cloud-api'({ address, customerWrites }) {
    const { WhatsAppClient } = await import('@kapso/whatsapp-cloud-api');
    const client = new WhatsAppClient({ accessToken: TOKEN, baseUrl: address });
    const { messages, media, templates, phoneNumbers, flows, calls } = client;
    const to = { phoneNumberId: PHONE, to: TO };
    const send = (kind, input) => async () => taken(await messages[kind]({ ...to, ...input }));
    const product = { catalogId: '1', productRetailerId: 'a' };
    const header = { type: 'image', image: { link: LINK } };
    const card = (cardIndex) => ({ cardIndex, header, bodyText: 'Card', action: { displayText: 'Open', url: LINK } });
    let mediaId;
    let flowId;
    return {
      'a text': send('sendText', { body: 'Hello', previewUrl: true, bizOpaqueCallbackData: '{"order":1}' }),
      'an image': send('sendImage', { image: { link: LINK, caption: 'Look' } }),
      'a video': send('sendVideo', { video: { link: LINK } }),
      'an audio': send('sendAudio', { audio: { link: LINK, voice: true } }),
      'a document': send('sendDocument', { document: { link: LINK, filename: 'a.pdf' } }),
      'a sticker': send('sendSticker', { sticker: { link: LINK } }),
      'a location': send('sendLocation', { location: { latitude: 1.5, longitude: 2.5, name: 'Here' } }),
      contacts: send('sendContacts', {
        contacts: [{ name: { formattedName: 'Ana Lima', firstName: 'Ana' }, phones: [{ phone: TO, type: 'WORK' }] }],
      }),
      'a reaction': async () =>
        taken(await messages.sendReaction({ ...to, reaction: { messageId: await customerWrites(), emoji: '👍' } })),
      buttons: send('sendInteractiveButtons', { bodyText: 'Well?', header, buttons: buttonsOf }),
      'a list': send('sendInteractiveList', {
        bodyText: 'Well?',
        buttonText: 'Open',
        sections: [{ title: 'A', rows }],
      }),
      'a link button': send('sendInteractiveCtaUrl', {
        bodyText: 'See',
        parameters: { displayText: 'Open', url: LINK },
      }),
      'a product': send('sendInteractiveProduct', product),
      products: send('sendInteractiveProductList', {
        bodyText: 'See',
        header: { type: 'text', text: 'Shop' },
        catalogId: '1',
        sections: [{ title: 'A', productItems: [{ productRetailerId: 'a' }] }],
      }),
      'a catalog': send('sendInteractiveCatalogMessage', { bodyText: 'See' }),
      'a carousel': send('sendInteractiveCarousel', { bodyText: 'See', cards: [card(0), card(1)] }),
      'a product carousel': send('sendInteractiveRaw', {
        interactive: {
          type: 'carousel',
          body: { text: 'See' },
          action: {
            cards: ['a', 'b'].map((id, i) => ({
              cardIndex: i,
              type: 'product',
              action: { ...product, productRetailerId: id },
            })),
          },
        },
      }),
      'a flow message': send('sendInteractiveFlow', {
        bodyText: 'Sign up',
        parameters: { flowId: '1', flowCta: 'Start', flowMessageVersion: '3', flowToken: 't' },
      }),
      'an address request': send('sendInteractiveAddress', { bodyText: 'Where?', parameters: { country: 'IN' } }),
      'a request for a location': send('sendInteractiveRaw', {
        interactive: { type: 'location_request_message', body: { text: 'Where?' }, action: { name: 'send_location' } },
      }),
      'a request to call': send('sendInteractiveRaw', {
        interactive: {
          type: 'call_permission_request',
          body: { text: 'May we call?' },
          action: { name: 'call_permission_request' },
        },
      }),
      'a template': send('sendTemplate', {
        template: {
          name: 'order_update',
          language: { code: 'en_US', policy: 'deterministic' },
          components: ORDER_UPDATE,
        },
      }),
      'mark as read': async () =>
        succeeded(
          await messages.markRead({
            phoneNumberId: PHONE,
            messageId: await customerWrites(),
            typingIndicator: { type: 'text' },
          }),
        ),
      'upload a file': async () => {
        ({ id: mediaId } = await media.upload({
          phoneNumberId: PHONE,
          type: 'image/png',
          file: new Blob([PNG]),
          fileName: 'pixel.png',
        }));
        assert.match(mediaId, FILE_ID);
      },
      'send the file': async () => send('sendImage', { image: { id: mediaId } })(),
      'read a file': async () =>
        assert.equal((await media.get({ mediaId, phoneNumberId: PHONE })).mimeType, 'image/png'),
      'download a file': async () =>
        sameBytes(await media.download({ mediaId, phoneNumberId: PHONE, as: 'arrayBuffer', auth: 'always' })),
      'delete a file': async () => succeeded(await media.delete({ mediaId, phoneNumberId: PHONE })),
      'create a template': async () => {
        const created = await templates.create({ businessAccountId: WABA, ...draft('kapso_parcel') });
        assert.equal(created.status, 'PENDING');
      },
      'list templates': async () => {
        const { data } = await templates.list({ businessAccountId: WABA, name: 'kapso_parcel', limit: 5 });
        assert.deepEqual(
          data.map(({ name }) => name),
          ['kapso_parcel'],
        );
      },
      'delete a template': async () =>
        succeeded(await templates.delete({ businessAccountId: WABA, name: 'kapso_parcel' })),
      'write the profile': async () =>
        succeeded(
          await phoneNumbers.businessProfile.update({
            phoneNumberId: PHONE,
            about: 'Succulents',
            websites: ['https://example.com'],
            vertical: 'RETAIL',
          }),
        ),
      'read the profile': async () => {
        const profile = await phoneNumbers.businessProfile.get({
          phoneNumberId: PHONE,
          fields: 'about,websites,vertical',
        });
        assert.equal(profile.data[0].about, 'Succulents');
      },
      'deregister and register': async () => {
        succeeded(await phoneNumbers.deregister({ phoneNumberId: PHONE }));
        succeeded(await phoneNumbers.register({ phoneNumberId: PHONE, pin: '123456' }));
      },
      'calling settings': async () => {
        succeeded(await phoneNumbers.settings.update({ phoneNumberId: PHONE, calling: { status: 'ENABLED' } }));
        const { calling } = await phoneNumbers.settings.get({ phoneNumberId: PHONE });
        assert.equal(calling.status, 'ENABLED');
      },
      'may not call': async () => {
        const { permission } = await calls.permissions.get({ phoneNumberId: PHONE, userWaId: '4915112345678' });
        assert.equal(permission.status, 'no_permission');
        await assert.rejects(
          calls.connect({ phoneNumberId: PHONE, to: TO, session: { sdpType: 'offer', sdp: 'v=0' } }),
          /138006/,
        );
      },
      'create and publish a flow': async () => {
        const json = { version: '7.0', screens: [{ id: 'A', layout: { type: 'SingleColumnLayout', children: [] } }] };
        const flow = await flows.create({ wabaId: WABA, name: 'kapso', flowJson: json, endpointUri: WEBHOOK });
        flowId = flow.id;
        succeeded(await flows.updateAsset({ flowId, json }));
        succeeded(await flows.publish({ flowId }));
        assert.equal((await flows.get({ flowId, fields: 'id,status' })).status, 'PUBLISHED');
      },
      'list flows': async () => {
        const { data } = await flows.list({ wabaId: WABA });
        assert.ok(data.some(({ id }) => id === flowId));
      },
      'preview and deprecate a flow': async () => {
        assert.match((await flows.preview({ flowId })).preview.previewUrl, /^https:/);
        succeeded(await flows.deprecate({ flowId }));
      },
    };
  },

  async '@great-detail/whatsapp'({ address, customerWrites }) {
    const { Client } = await import('@great-detail/whatsapp');
    const sdk = new Client({ prefixUrl: address, request: { headers: { Authorization: `Bearer ${TOKEN}` } } });
    const send = (type, content) => async () =>
      taken(await sdk.message.createMessage({ phoneNumberID: PHONE, to: TO, type, [type]: content }).json());
    let mediaID;
    let templateId;
    return {
      'a text': send('text', { body: 'Hello' }),
      'an image': send('image', { link: LINK }),
      'a video': send('video', { link: LINK }),
      'an audio': send('audio', { link: LINK }),
      'a document': send('document', { link: LINK, filename: 'a.pdf' }),
      'a sticker': send('sticker', { link: LINK }),
      'a location': send('location', { latitude: '1.5', longitude: '2.5' }),
      contacts: send('contacts', [{ name: { formatted_name: 'Ana', first_name: 'Ana' }, phones: [{ phone: TO }] }]),
      'a reaction': async () => send('reaction', { message_id: await customerWrites(), emoji: '👍' })(),
      buttons: send('interactive', {
        type: 'button',
        body: { text: 'Well?' },
        action: { buttons: buttonsOf.map((reply) => ({ type: 'reply', reply })) },
      }),
      'a list': send('interactive', {
        type: 'list',
        body: { text: 'Well?' },
        action: { button: 'Open', sections: [{ title: 'A', rows }] },
      }),
      'a link button': send('interactive', {
        type: 'cta_url',
        body: { text: 'See' },
        action: { name: 'cta_url', parameters: { display_text: 'Open', url: LINK } },
      }),
      'a template': send('template', {
        name: 'order_update',
        language: { code: 'en_US' },
        components: ORDER_UPDATE,
      }),
      'mark as read': async () =>
        succeeded(
          await sdk.message
            .createStatus({ phoneNumberID: PHONE, message_id: await customerWrites(), status: 'read' })
            .json(),
        ),
      'upload a file': async () => {
        const upload = { phoneNumberID: PHONE, file: new Blob([PNG]), filename: 'pixel.png', mimeType: 'image/png' };
        ({ id: mediaID } = await sdk.media.upload(upload).json());
        assert.match(mediaID, FILE_ID);
      },
      'send the file': async () => send('image', { id: mediaID })(),
      'read a file': async () =>
        assert.equal((await sdk.media.getURL({ mediaID, phoneNumberID: PHONE }).json()).mime_type, 'image/png'),
      'download a file': async () => {
        const { url: mediaURL } = await sdk.media.getURL({ mediaID }).json();
        const request = { headers: { Authorization: `Bearer ${TOKEN}`, Host: 'lookaside.fbsbx.com' } };
        sameBytes(await sdk.media.download({ mediaURL, request }).arrayBuffer());
      },
      'delete a file': async () => succeeded(await sdk.media.delete({ mediaID }).json()),
      'create a template': async () => {
        ({ id: templateId } = await sdk.template.create(WABA, draft('great_detail_parcel')).json());
      },
      'read a template': async () => {
        const fields = [
          'name',
          'status',
          'degrees_of_freedom_spec',
          'health_status{can_send_message}',
          'quality_score',
        ];
        const template = await sdk.template.get(templateId, { fields }).json();
        assert.equal(template.name, 'great_detail_parcel');
      },
      'list templates': async () => {
        const { data } = await sdk.template.list(WABA, { status: ['APPROVED', 'PENDING'], limit: 100 }).json();
        assert.ok(data.some(({ id }) => id === templateId));
      },
      'list the library': async () =>
        assert.ok((await sdk.template.listLibrary({ limit: 1 }).json()).data.length === 1),
      'delete a template': async () =>
        succeeded(await sdk.template.delete(WABA, { name: 'great_detail_parcel', hsm_id: templateId }).json()),
      'write the profile': async () =>
        succeeded(await sdk.businessProfile.updateBusinessProfile({ phoneNumberID: PHONE, about: 'Plants' }).json()),
      'read the profile': async () => {
        const profile = await sdk.businessProfile
          .getBusinessProfile({ phoneNumberID: PHONE, fields: ['about'] })
          .json();
        assert.equal(profile.data[0].about, 'Plants');
      },
      'read a number': async () => {
        const fields = [
          'id',
          'status',
          'health_status',
          'webhook_configuration',
          ['whatsapp_business_profile', ['about']],
        ];
        const number = await sdk.phoneNumbers.getPhoneNumber({ phoneNumberID: PHONE, fields }).json();
        assert.equal(number.whatsapp_business_profile.data[0].about, 'Plants');
      },
      'list numbers': async () => {
        const page = await sdk.phoneNumbers
          .listPhoneNumbers({ businessAccountID: WABA, fields: ['id', 'throughput'] })
          .json();
        assert.ok(page.data.some(({ id }) => id === PHONE));
      },
      'read the account': async () => {
        const fields = ['name', 'currency', 'owner_business_info', 'health_status', 'status', 'ownership_type'];
        assert.equal((await sdk.whatsappBusinessAccount.get(WABA, { fields }).json()).status, 'ACTIVE');
      },
      'subscribe the app': async () => {
        succeeded(await sdk.subscribedApps.createSubscription({ businessAccountID: WABA }).json());
        assert.equal((await sdk.subscribedApps.listSubscriptions({ businessAccountID: WABA }).json()).data.length, 1);
      },
    };
  },

  async '@whatsapp-cloudapi/client'({ address, customerWrites }) {
    const client = await import('@whatsapp-cloudapi/client');
    const to = { accessToken: TOKEN, from: PHONE, to: TO, baseUrl: address };
    const send = (kind, input) => async () => taken(await client[kind]({ ...to, ...input }));
    let mediaId;
    return {
      'a text': send('sendTextMessage', { text: 'Hello', bizOpaqueCallbackData: 'a' }),
      buttons: send('sendButtonsMessage', { bodyText: 'Well?', headerText: 'Order', buttons: buttonsOf }),
      'a list': send('sendListMessage', { bodyText: 'Well?', buttonText: 'Open', sections: [{ title: 'A', rows }] }),
      'a link button': send('sendCTAURLMessage', { bodyText: 'See', buttonText: 'Open', url: LINK }),
      'a flow message': send('sendFlowMessage', {
        bodyText: 'Sign up',
        flowToken: 't',
        flowId: '1',
        flowCta: 'Start',
        screen: 'A',
      }),
      'a template': send('sendTemplateMessage', {
        templateName: 'order_update',
        languageCode: 'en_US',
        components: ORDER_UPDATE,
      }),
      'upload a file': async () => {
        ({ id: mediaId } = await client.uploadMedia({
          accessToken: TOKEN,
          from: PHONE,
          file: png(),
          baseUrl: address,
        }));
      },
      'an image': async () => send('sendImageMessage', { mediaId, caption: 'Look' })(),
      'mark as read': async () =>
        succeeded(
          await client.markMessageRead({
            ...to,
            messageId: await customerWrites(),
            showTypingIndicator: true,
          }),
        ),
    };
  },

  // These two know only the platform's own address: the fetch of this process leads it to the simulator.
  async 'whatsapp-api-js'({ customerWrites }) {
    const { WhatsAppAPI } = await import('whatsapp-api-js');
    const m = await import('whatsapp-api-js/messages');
    const api = new WhatsAppAPI({ token: TOKEN, secure: false, v: 'v24.0' });
    const send = (message) => async () => taken(await api.sendMessage(PHONE, { phone: TO }, message));
    const body = new m.Body('Well?');
    const product = (id) => new m.CatalogProduct(id, '1');
    let mediaId;
    let code;
    return {
      'a text': send(new m.Text('Hello', true)),
      'an image': send(new m.Image(LINK, false, 'Look')),
      'a video': send(new m.Video(LINK)),
      'an audio': send(new m.Audio(LINK)),
      'a document': send(new m.Document(LINK, false, 'Bill', 'a.pdf')),
      'a sticker': send(new m.Sticker(LINK)),
      'a location': send(new m.Location(2.5, 1.5, 'Here', 'A street')),
      contacts: send(
        new m.Contacts([
          new m.Name('Ana Lima', 'Ana', 'Lima'),
          new m.Phone(TO, 'WORK'),
          new m.Birthday('1990', '01', '31'),
          new m.Organization('Lucky Shrub'),
        ]),
      ),
      'a reaction': async () => send(new m.Reaction(await customerWrites(), '👍'))(),
      buttons: send(new m.Interactive(new m.ActionButtons(new m.Button('yes', 'Yes')), body, new m.Header('Order'))),
      'a list': send(new m.Interactive(new m.ActionList('Open', new m.ListSection('A', new m.Row('1', 'One'))), body)),
      'a link button': send(new m.Interactive(new m.ActionCTA('Open', LINK), body)),
      'a catalog': send(new m.Interactive(new m.ActionCatalog(new m.Product('a')), body)),
      'a product': send(new m.Interactive(new m.ActionProduct(product('a')))),
      products: send(
        new m.Interactive(
          new m.ActionProductList('1', new m.ProductSection('A', new m.Product('a'))),
          body,
          new m.Header('Shop'),
        ),
      ),
      'a flow message': send(new m.Interactive(new m.ActionNavigateFlow('t', '1', 'Start', 'A'), body)),
      'a request for a location': send(new m.Interactive(new m.ActionLocation(), body)),
      'a request to call': send(new m.Interactive(new m.ActionCallPermission(), body)),
      'a request for a contact': send(new m.Interactive(new m.ActionContactRequest(), body)),
      'a template': send(
        new m.Template(
          'order_update',
          'en_US',
          new m.BodyComponent(new m.BodyParameter('Ana'), new m.BodyParameter('4711')),
        ),
      ),
      'mark as read': async () => succeeded(await api.markAsRead(PHONE, await customerWrites(), 'text')),
      'upload a file': async () => {
        const form = new FormData();
        form.set('file', png());
        ({ id: mediaId } = await api.uploadMedia(PHONE, form));
        assert.match(mediaId ?? '', FILE_ID);
      },
      'send the file': async () => send(new m.Image(mediaId, true))(),
      'read and download a file': async () => {
        const { url } = await api.retrieveMedia(mediaId, PHONE);
        sameBytes(await (await api.fetchMedia(url)).arrayBuffer());
      },
      'delete a file': async () => succeeded(await api.deleteMedia(mediaId, PHONE)),
      'create a QR code': async () => {
        const made = await api.createQR(PHONE, 'Hello there', 'png');
        assert.match(made.qr_image_url, /^https:/);
        ({ code } = made);
      },
      'read and change a QR code': async () => {
        assert.equal((await api.updateQR(PHONE, code, 'Good day')).prefilled_message, 'Good day');
        assert.equal((await api.retrieveQR(PHONE, code)).data[0].prefilled_message, 'Good day');
        assert.equal((await api.retrieveQR(PHONE)).data.length, 1);
      },
      'delete a QR code': async () => succeeded(await api.deleteQR(PHONE, code)),
      'block and unblock': async () => {
        await customerWrites('+4915112345679');
        const { block_users: blocked } = await api.blockUser(PHONE, { phone: '+4915112345679' });
        assert.equal(blocked.added_users[0].wa_id, '4915112345679');
        const refused = await api.sendMessage(PHONE, { phone: '+4915112345679' }, new m.Text('Hello'));
        assert.equal(refused.error.code, 130403);
        const { block_users: unblocked } = await api.unblockUser(PHONE, { phone: '+4915112345679' });
        assert.equal(unblocked.removed_users.length, 1);
      },
    };
  },

  // Meta's own SDK, of which the host can be set. Its port is 443, and here the one of a proxy with a certificate of its own.
  async whatsapp({ tls, customerWrites }) {
    const settings = {
      WA_BASE_URL: 'localhost',
      WA_PHONE_NUMBER_ID: PHONE,
      CLOUD_API_ACCESS_TOKEN: TOKEN,
      CLOUD_API_VERSION: 'v24.0',
      // Elsewhere than in production it loads a package that it does not name as a dependency.
      NODE_ENV: 'production',
    };
    const needed = [
      'M4D_APP_ID',
      'M4D_APP_SECRET',
      'WA_BUSINESS_ACCOUNT_ID',
      'WEBHOOK_ENDPOINT',
      'WEBHOOK_VERIFICATION_TOKEN',
    ];
    Object.assign(process.env, Object.fromEntries(needed.map((name) => [name, 'x'])), settings);
    const { default: exported } = await import('whatsapp');
    const sdk = new (exported.default ?? exported)();
    sdk.requester.port = tls.port;
    sdk.requester.client.agent.options.ca = tls.cert;
    const send = (kind, content, replyTo) => async () => {
      const answer = await sdk.messages[kind](content, TO.replace('+', ''), replyTo);
      taken(await answer.responseBodyToJSON());
    };
    return {
      'a text': send('text', { body: 'Hello', preview_url: false }),
      'a reply': async () => send('text', { body: 'Yes' }, await customerWrites())(),
      'an image': send('image', { link: LINK, caption: 'Look' }),
      'a document': send('document', { link: LINK, filename: 'a.pdf' }),
      'a location': send('location', { latitude: 1.5, longitude: 2.5, name: 'Here' }),
      buttons: send('interactive', {
        type: 'button',
        body: { text: 'Well?' },
        action: { buttons: buttonsOf.map((reply) => ({ type: 'reply', reply })) },
      }),
      'a template': send('template', {
        name: 'order_update',
        language: { code: 'en_US', policy: 'deterministic' },
        components: ORDER_UPDATE,
      }),
    };
  },

  async 'ws-cloud-api'() {
    const { sendText, sendImage, sendVideo, sendAudio, sendDocument, sendFile, ...more } =
      await import('ws-cloud-api/messaging');
    const { uploadMedia, getMediaUrl, getMedia } = await import('ws-cloud-api/media');
    const { getTemplates, sendTextTemplate } = await import('ws-cloud-api/templates');
    const config = { apiVersion: '24.0', phoneNumberId: PHONE, businessId: WABA, token: TOKEN };
    const send = (kind, input) => async () => {
      const { success, response } = await kind({ to: TO, config, ...input });
      assert.equal(success, true);
      taken(response);
    };
    let mediaId;
    return {
      'a text': send(sendText, { message: 'Hello', previewUrl: true }),
      'an image': send(sendImage, { link: LINK }),
      'a video': send(sendVideo, { link: LINK }),
      'an audio': send(sendAudio, { link: LINK }),
      'a document': send(sendDocument, { link: LINK, filename: 'a.pdf', caption: 'Bill' }),
      'a file': send(sendFile, { file: png() }),
      buttons: send(more.sendButtonMessage, { message: { text: 'Well?', buttons: buttonsOf } }),
      'a link button': send(more.sendCTAButtonMessage, { message: { text: 'See', buttonText: 'Open', url: LINK } }),
      'a list': send(more.sendInteractiveListMessage, { list: { text: 'Well?', buttonText: 'Open', list: rows } }),
      'a flow message': send(more.sendFlowMessage, {
        flow: { text: 'Sign up', token: 't', id: '1', ctaText: 'Start', defaultScreen: 'A' },
      }),
      'a template': send(sendTextTemplate, {
        templateName: 'order_update',
        language: 'en_US',
        parameters: ORDER_UPDATE[0].parameters,
      }),
      'upload, read and download a file': async () => {
        mediaId = await uploadMedia({ media: png(), config });
        const mediaUrl = await getMediaUrl({ mediaId, config });
        sameBytes(await (await getMedia({ mediaUrl, config })).arrayBuffer());
      },
      'list templates': async () => {
        const { success, templates } = await getTemplates({ fields: ['name', 'status'], limit: 5, config });
        assert.equal(success, true);
        assert.ok(templates.data.some(({ name }) => name === 'hello_world'));
      },
    };
  },
};
