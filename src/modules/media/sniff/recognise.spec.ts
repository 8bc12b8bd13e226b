import { activeTextType, TextScan } from './recognise.js';

const scan = (...chunks: Buffer[]): boolean => {
  const text = new TextScan();
  for (const chunk of chunks) text.push(chunk);
  return text.finish();
};

describe('TextScan', () => {
  it('takes UTF-8 wherever its characters are cut', () => {
    const bytes = Buffer.from('Grüße, 你好, 👋\r\n\tend');
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(scan(bytes.subarray(0, cut), bytes.subarray(cut))).toBe(true);
    }
  });

  it.each([
    ['a character that is cut off at the end', Buffer.from('ü').subarray(0, 1)],
    ['Latin-1', Buffer.from([0x47, 0x72, 0xfc, 0xdf, 0x65])],
    ['U+0000', Buffer.from('a\u0000b')],
    ['an escape', Buffer.from('a\u001bb')],
    ['an overlong form', Buffer.from([0xc0, 0xaf])],
    ['half a surrogate pair', Buffer.from([0xed, 0xa0, 0x80])],
  ])('refuses %s', (_name, bytes) => {
    expect(scan(bytes)).toBe(false);
  });
});

describe('activeTextType', () => {
  it.each([
    ['<!DOCTYPE html><title>x</title>', 'text/html'],
    ['\uFEFF  <HTML>', 'text/html'],
    ['<script>alert(1)</script>', 'text/html'],
    ['<?php echo 1;', 'text/html'],
    ['<svg xmlns="http://www.w3.org/2000/svg">', 'image/svg+xml'],
    ['<?xml version="1.0"?><svg/>', 'image/svg+xml'],
    ['<?xml version="1.0"?><feed/>', 'text/xml'],
  ])('detects %j', (text, type) => {
    expect(activeTextType(Buffer.from(text))).toBe(type);
  });

  it.each([
    ['# Readme\n<p align="center">'],
    ['<!-- a comment -->\n# Readme'],
    ['<p align="center">logo</p>\n\n# Readme'],
    ['<htmlish text>'],
    ['a < b, and b > c'],
    [''],
  ])('leaves %j a text', (text) => {
    expect(activeTextType(Buffer.from(text))).toBeNull();
  });
});
