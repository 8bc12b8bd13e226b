import { stripVTControlCharacters } from 'node:util';
import {
  decimalId,
  durationSeconds,
  phoneDigits,
  scopeList,
  dayOrTime,
  lifetimeSeconds,
  nameText,
  orWord,
  userId,
  wholeNumber,
} from './arguments.js';
import { facts, oneLine, paintStatus, printable, table } from './output.js';

describe('arguments', () => {
  it.each([
    ['90s', 90],
    ['15m', 900],
    ['12h', 43_200],
    ['30d', 2_592_000],
    ['4w', 2_419_200],
    ['0s', 0],
  ])('%s are %d seconds', (text, seconds) => {
    expect(durationSeconds(text)).toBe(seconds);
  });

  it.each(['', '12', 'h', '-1h', '1.5h', '1y', '1h30m'])('%j is no duration', (text) => {
    expect(() => durationSeconds(text)).toThrow('such as 12h or 30d');
  });

  it('a day lasts to its end, a time is itself, none is none', () => {
    expect(dayOrTime('2027-01-31').toISOString()).toBe('2027-01-31T23:59:59.999Z');
    expect(dayOrTime('2027-01-31T10:00:00+02:00').toISOString()).toBe('2027-01-31T08:00:00.000Z');
    expect(orWord('none', dayOrTime)('none')).toBe('none');
  });

  it.each(['', 'tomorrow', '2027-13-01', '31.01.2027', '5'])('%j is no time', (text) => {
    expect(() => dayOrTime(text)).toThrow('ISO 8601');
  });

  it.each(['2026-02-30', '2027-02-29', '2026-04-31', '2026-02-30T10:00:00Z'])('%s is no day', (text) => {
    expect(() => dayOrTime(text)).toThrow(`no day ${text.slice(0, 10)}`);
  });

  it('a leap day is one', () => {
    expect(dayOrTime('2028-02-29').toISOString()).toBe('2028-02-29T23:59:59.999Z');
  });

  it.each(['0s', '0d'])('%s is no lifetime', (text) => expect(() => lifetimeSeconds(text)).toThrow('expired'));

  it('names have a character and no more than 200', () => {
    expect(nameText(' Shop ')).toBe('Shop');
    for (const text of ['', '  ', 'x'.repeat(201)]) expect(() => nameText(text)).toThrow('1 to 200');
  });

  it('a limit may be the default', () => {
    const limit = orWord('default', wholeNumber(1, 9));
    expect([limit('default'), limit('5')]).toEqual(['default', 5]);
    expect(() => limit('10')).toThrow('from 1 to 9');
  });

  it('a user id is as the platform writes it', () => {
    expect(userId('DE.ENT.1795a')).toBe('DE.ENT.1795a');
    for (const text of ['', '4915112345678', 'de.1', 'DE.', 'DE.1 2'])
      expect(() => userId(text)).toThrow('notification');
  });

  it('scopes are a list, or all but those of OTP', () => {
    expect(scopeList('messages:read, messages:write')).toEqual(['messages:read', 'messages:write']);
    expect(scopeList('all')).toContain('media:write');
    expect(scopeList('all').filter((scope) => scope.startsWith('otp:'))).toEqual([]);
    expect(() => scopeList('messages:read,everything')).toThrow('everything is no scope');
    expect(() => scopeList(' , ')).toThrow('nothing is no scope');
  });

  it('numbers are digits, however they are written', () => {
    expect(phoneDigits('+1 (650) 555-0134')).toBe('16505550134');
    expect(() => phoneDigits('call me')).toThrow('country code');
    expect(decimalId('106540352242922')).toBe('106540352242922');
    expect(() => decimalId('+106540352242922')).toThrow('digits only');
  });
});

describe('answers', () => {
  it('put values under one another', () => {
    expect(stripVTControlCharacters(facts({ Id: '1', 'Paid until': 'never' }))).toBe(
      'Id          1\nPaid until  never',
    );
  });

  it('make columns as wide as their widest cell, without spaces at the end', () => {
    const rows = [
      { id: 1, name: 'first' },
      { id: 200, name: '' },
    ];
    expect(stripVTControlCharacters(table(rows, { ID: 'id', NAME: 'name' }))).toBe('ID   NAME\n1    first\n200');
    expect(table([], { ID: 'id' }, 'none')).toBe('none');
  });

  it('show no control characters of others, nor what turns the direction of text', () => {
    const evil = 'a\u001B]52;c;x\u0007\u001B[2J\u009B1mb\u202Ec\u2066d\r\ne';
    const shown = 'a]52;c;x[2J1mbcd';
    expect(stripVTControlCharacters(table([{ type: evil }], { TYPE: 'type' }))).toBe(`TYPE\n${shown} e`);
    expect(printable(evil)).toBe(`${shown}\ne`);
    expect(stripVTControlCharacters(facts({ type: evil }))).toContain(shown);
    expect(oneLine('x\u202Ey\u2069')).toBe('xy');
    expect(printable(paintStatus('read'))).toBe(paintStatus('read'));
  });

  it('count no colours when they make columns', () => {
    const rows = [
      { status: '\u001B[31mfailed\u001B[39m', id: 'x' },
      { status: paintStatus('read'), id: 'y' },
    ];
    const lines = stripVTControlCharacters(table(rows, { STATUS: 'status', ID: 'id' })).split('\n');
    expect(lines).toEqual(['STATUS  ID', 'failed  x', 'read    y']);
  });

  it('write a time as the API does, and what is not there as -', () => {
    const rows = [{ at: new Date(0), by: null }];
    expect(stripVTControlCharacters(table(rows, { AT: 'at', BY: 'by' }))).toMatch(/\n1970-01-01T00:00:00\.000Z +-$/);
  });
});
