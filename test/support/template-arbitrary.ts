import fc from 'fast-check';
import {
  buttonsPart,
  copyCode,
  label,
  mediaHeader,
  phoneNumber,
  quickReply,
  someButtons,
  text,
  url,
  variableUrl,
  words,
  type ButtonSample,
  type Format,
  type Json,
  type Part,
} from './template-parts.js';

/** A template that the platform takes, and what a send of it gives. */
export interface TemplateSample {
  kind: 'text' | 'media' | 'location' | 'buttons' | 'authentication' | 'carousel' | 'limited_time_offer';
  name: string;
  language: string;
  category: 'UTILITY' | 'MARKETING' | 'AUTHENTICATION';
  parameterFormat: Format;
  components: ({ type: string } & Json)[];
  /** `template.components` of a message: exactly the parameters that the template needs, no more. */
  sent: Json[];
  /** Values for a preview: by number, or in order of appearance. */
  values: { header: string[]; body: string[] };
  /** The body with the values of `sent`, in English where the platform writes it. */
  renderedBody: string;
  /** The text of the header likewise; null where it has none. */
  renderedHeader: string | null;
}

const identity = fc.record({
  name: fc.stringMatching(/^[a-z0-9_]{1,40}$/),
  language: fc.constantFrom('en_US', 'pt_BR', 'de'),
  category: fc.constantFrom('UTILITY' as const, 'MARKETING' as const),
});
const format = fc.constantFrom<Format>('POSITIONAL', 'NAMED');
const footer = fc.option(words.filter((text) => text.length <= 60).map((text) => ({ type: 'FOOTER', text })));

function plain(
  kind: TemplateSample['kind'],
  header: (format: Format) => fc.Arbitrary<Part | null>,
  buttons = fc.constant<ButtonSample[]>([]),
): fc.Arbitrary<TemplateSample> {
  return fc.tuple(format, fc.nat({ max: 4 })).chain(([parameterFormat, count]) =>
    fc
      .record({
        identity,
        header: header(parameterFormat),
        body: text('body', parameterFormat, count),
        footer,
        buttons,
      })
      .map((of): TemplateSample => {
        const { component, sent } = buttonsPart(of.buttons);
        return {
          kind,
          ...of.identity,
          parameterFormat,
          components: [
            ...(of.header === null ? [] : [of.header.component]),
            of.body.component,
            ...(of.footer === null ? [] : [of.footer]),
            ...component,
          ],
          sent: [...(of.header?.sent ?? []), ...of.body.sent, ...sent],
          values: { header: of.header?.values ?? [], body: of.body.values },
          renderedBody: of.body.rendered,
          renderedHeader: of.header?.rendered ?? null,
        };
      }),
  );
}

const textHeader = (format: Format): fc.Arbitrary<Part | null> =>
  fc.option(fc.nat({ max: 1 }).chain((count) => text('header', format, count)));

const location = fc.constant<Part>({
  component: { type: 'HEADER', format: 'LOCATION' },
  sent: [
    {
      type: 'header',
      parameters: [
        { type: 'location', location: { latitude: -23.55, longitude: -46.63, name: 'Shop', address: 'R. A, 10' } },
      ],
    },
  ],
  values: [],
  rendered: null,
});

const otpButton = fc.oneof(
  fc.constant({ type: 'OTP', otp_type: 'COPY_CODE' }),
  label.map((text) => ({ type: 'OTP', otp_type: 'COPY_CODE', text })),
  fc.constantFrom('ONE_TAP', 'ZERO_TAP').map((otpType) => ({
    type: 'OTP',
    otp_type: otpType,
    text: 'Copy',
    autofill_text: 'Autofill',
    zero_tap_terms_accepted: true,
    supported_apps: [{ package_name: 'com.example.shop', signature_hash: 'K8a/AINcGX7' }],
  })),
);

const authentication = fc
  .record({
    identity,
    advice: fc.option(fc.boolean(), { nil: undefined }),
    minutes: fc.option(fc.integer({ min: 1, max: 90 })),
    button: otpButton,
    code: fc.stringMatching(/^\d{6}$/),
  })
  .map(({ identity, advice, minutes, button, code }): TemplateSample => {
    const parameters = [{ type: 'text', text: code }];
    return {
      kind: 'authentication',
      ...identity,
      category: 'AUTHENTICATION',
      parameterFormat: 'POSITIONAL',
      components: [
        { type: 'BODY', ...(advice !== undefined && { add_security_recommendation: advice }) },
        ...(minutes === null ? [] : [{ type: 'FOOTER', code_expiration_minutes: minutes }]),
        { type: 'BUTTONS', buttons: [button] },
      ],
      sent: [
        { type: 'body', parameters },
        { type: 'button', sub_type: 'url', index: '0', parameters },
      ],
      values: { header: [], body: [code] },
      renderedBody: `*${code}* is your verification code.${advice === true ? ' For your security, do not share this code.' : ''}`,
      renderedHeader: null,
    };
  });

/** Cards of one shape: a header, a text or none, the same kinds of buttons. */
const cards = fc
  .record({
    count: fc.integer({ min: 2, max: 10 }),
    media: fc.constantFrom('IMAGE' as const, 'VIDEO' as const),
    withBody: fc.boolean(),
    kinds: fc.shuffledSubarray([quickReply, variableUrl, variableUrl, phoneNumber], { minLength: 1, maxLength: 2 }),
  })
  .chain(({ count, media, withBody, kinds }) =>
    fc.array(
      fc.record({
        header: mediaHeader([media]),
        body: withBody
          ? fc.nat({ max: 2 }).chain((variables) => text('body', 'POSITIONAL', variables))
          : fc.constant(null),
        buttons: fc.tuple(...kinds),
      }),
      { minLength: count, maxLength: count },
    ),
  );

const carousel = fc
  .record({ identity, body: text('body', 'POSITIONAL', 1), cards })
  .map(({ identity, body, cards }): TemplateSample => {
    const parts = cards.map(({ header, body: text, buttons }) => {
      const { component, sent } = buttonsPart(buttons);
      return {
        components: [header.component, ...(text === null ? [] : [text.component]), ...component],
        sent: [...header.sent, ...(text?.sent ?? []), ...sent],
      };
    });
    const sentCards = parts.map(({ sent }, index) => ({ card_index: index, components: sent }));
    return {
      kind: 'carousel',
      ...identity,
      parameterFormat: 'POSITIONAL',
      components: [body.component, { type: 'CAROUSEL', cards: parts.map(({ components }) => ({ components })) }],
      sent: [...body.sent, { type: 'carousel', cards: sentCards }],
      values: { header: [], body: body.values },
      renderedBody: body.rendered,
      renderedHeader: null,
    };
  });

const limitedTimeOffer = fc
  .record({
    identity,
    header: fc.option(mediaHeader(['IMAGE', 'VIDEO'])),
    body: text('body', 'POSITIONAL', 2),
    title: fc.constantFrom('Expiring offer!', 'Sixteen letters!'),
    ends: fc.boolean(),
    buttons: fc.tuple(copyCode, url),
  })
  .map(({ identity, header, body, title, ends, buttons }): TemplateSample => {
    const { component, sent } = buttonsPart(buttons);
    const ending = { type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: 1_767_225_600_000 } };
    return {
      kind: 'limited_time_offer',
      ...identity,
      category: 'MARKETING',
      parameterFormat: 'POSITIONAL',
      components: [
        ...(header === null ? [] : [header.component]),
        { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: title, has_expiration: ends } },
        body.component,
        ...component,
      ],
      sent: [
        ...(header?.sent ?? []),
        ...(ends ? [{ type: 'limited_time_offer', parameters: [ending] }] : []),
        ...body.sent,
        ...sent,
      ],
      values: { header: [], body: body.values },
      renderedBody: body.rendered,
      renderedHeader: null,
    };
  });

/** Templates of every kind, as the platform takes them, each with exactly the parameters of a send. */
export function templateArbitrary(): fc.Arbitrary<TemplateSample> {
  return fc.oneof(
    plain('text', textHeader),
    plain('media', () => mediaHeader(['IMAGE', 'VIDEO', 'DOCUMENT', 'GIF'])),
    plain('location', () => location),
    plain('buttons', textHeader, someButtons),
    authentication,
    carousel,
    limitedTimeOffer,
  );
}
