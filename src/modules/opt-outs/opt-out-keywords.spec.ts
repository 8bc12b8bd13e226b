import { type KeywordsByLanguage, meaningOf, readKeywords, refuseConflicts } from './opt-out-keywords.js';

const KEYWORDS: KeywordsByLanguage = {
  en: { out: ['stop'], in: ['start', 'yes please'] },
  tr: { out: ['iptal', 'kapalı'], in: ['başlat'] },
  ar: { out: ['إيقاف'], in: [] },
  el: { out: ['τέλος'], in: [] },
  de: { out: ['schluß'], in: [] },
};

describe('the word of a message', () => {
  it.each([
    'STOP',
    'Stop',
    ' stop ',
    'stop\n',
    '\tstop',
    'ＳＴＯＰ',
    'STOP!',
    'Stop.',
    'stop...',
    'stop…',
    '¡stop!',
    'stop?!',
    '(stop)',
    '*STOP*',
    '_stop_',
    '- stop',
    'stop,',
    '"stop"',
    "'STOP'",
    '“Stop”',
    '„stop“',
    '«stop»',
    '‹stop›',
    '`stop`',
    '「stop」',
    '´stop´',
    ' « Stop ! » ',
    'stop\u200B',
    '\uFEFFstop',
    'stop\u200D',
    'st\u200Cop',
    'stop\uFE0F',
    'stop\uFE0E',
    'st\u00ADop',
    'stop\u2060',
    '\u200Fstop',
    'stop\u200F',
    '\u200Estop\u200E',
    '\u202Bstop\u202C',
    '\u2067stop\u2069',
    '\u061Cstop',
    '"\u200Fstop."\u200F',
    'stop\u034F',
    'stop\u3164',
    'stop\u180B',
    'stop\u00A0',
    '\u3000stop',
    'stop\u0000',
    'stop\u{E0101}',
    'İPTAL',
    'IPTAL',
    'iptal',
    'ıptal',
    'İptal!',
    'KAPALI',
    'kapali',
    'KAPALİ',
    'i\u0307ptal',
    'إيقاف',
    'إيقـــاف',
    'إيقاف\u200F',
    '\u200Fإيقاف.',
    'إيقاف؟',
    'إيقاف،',
    'ΤΈΛΟΣ',
    'τέλοσ',
    'SCHLUSS',
    'Schluß!',
  ])('%j opts out', (text) => expect(meaningOf(text, KEYWORDS)).toBe(true));

  it.each(['START', 'start!', '\u200Fstart', 'BAŞLAT', 'Yes please.', '"yes please"'])('%j opts in', (text) =>
    expect(meaningOf(text, KEYWORDS)).toBe(false),
  );

  it.each([
    'please stop',
    'stop it',
    'stop stop',
    'non-stop',
    'stop-start',
    'nonstop',
    'stops',
    'st op',
    's.t.o.p',
    'stop 1',
    'don’t stop!',
    '',
    '   ',
    '!',
    '\u200B',
    'ستوب',
    `stop${' '.repeat(300)}`,
    'start-stop',
    'yes, please',
  ])('%j is neither', (text) => expect(meaningOf(text, KEYWORDS)).toBeNull());

  it('that is out in one language and in in another opts out, whichever comes first', () => {
    const both = { out: ['ok'], in: [] };
    const other = { out: [], in: ['OK'] };
    expect(meaningOf('ok', { de: both, en: other })).toBe(true);
    expect(meaningOf('ok', { de: other, en: both })).toBe(true);
  });
});

describe('keywords', () => {
  it('are kept as they are written in their language, once each, without what stands around them', () => {
    expect(readKeywords('tr', { out: ['KAPALI', 'kapalı', 'İptal!'], in: ['\u200FBaşlat'] })).toEqual({
      out: ['kapalı', 'iptal'],
      in: ['başlat'],
    });
  });

  it.each([
    ['!', 'a keyword has 1 to 64 characters'],
    ['\u200B', 'a keyword has 1 to 64 characters'],
    ['x'.repeat(65), 'a keyword has 1 to 64 characters'],
  ])('%j is refused', (word, sentence) => expect(() => readKeywords('en', { out: [word], in: [] })).toThrow(sentence));

  it.each([
    [{ en: { out: ['stop'], in: ['STOP!'] } }, 'STOP! cannot opt out and in'],
    [
      { de: { out: ['ab'], in: [] }, en: { out: [], in: ['ab'] } },
      'ab opts out (de) and cannot opt in (en): one word means one thing in all languages',
    ],
    [{ en: { out: [], in: ['İPTAL'] }, tr: { out: ['iptal'], in: [] } }, 'İPTAL opts out (tr) and cannot opt in (en)'],
  ] as [KeywordsByLanguage, string][])('that contradict one another are refused: %j', (keywords, sentence) =>
    expect(() => refuseConflicts(keywords)).toThrow(sentence),
  );

  it('that agree are taken', () => expect(() => refuseConflicts(KEYWORDS)).not.toThrow());
});
