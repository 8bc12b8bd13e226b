import { stripVTControlCharacters } from 'node:util';
import { decimalId, durationSeconds, phoneDigits, scopeList, timeOrNone } from './arguments.js';
import { facts, table } from './answer.js';
import { paintStatus } from './style.js';

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

  it('a day lasts to its end, a time is itself, none is null', () => {
    expect(timeOrNone('2027-01-31')?.toISOString()).toBe('2027-01-31T23:59:59.999Z');
    expect(timeOrNone('2027-01-31T10:00:00+02:00')?.toISOString()).toBe('2027-01-31T08:00:00.000Z');
    expect(timeOrNone('none')).toBeNull();
  });

  it.each(['', 'tomorrow', '2027-13-01', '31.01.2027', '5'])('%j is no time', (text) => {
    expect(() => timeOrNone(text)).toThrow('ISO 8601');
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
      ['1', 'first'],
      ['200', ''],
    ];
    expect(stripVTControlCharacters(table(['ID', 'NAME'], rows, 'none'))).toBe('ID   NAME\n1    first\n200');
    expect(table(['ID'], [], 'none')).toBe('none');
  });

  it('count no colours when they make columns', () => {
    const rows = [
      ['\u001B[31mfailed\u001B[39m', 'x'],
      [paintStatus('read'), 'y'],
    ];
    const lines = stripVTControlCharacters(table(['STATUS', 'ID'], rows, 'none')).split('\n');
    expect(lines).toEqual(['STATUS  ID', 'failed  x', 'read    y']);
  });
});
