import { randomBytes } from 'node:crypto';
import { newId } from '../../../common/ids.js';
import type { Config } from '../../../infrastructure/config/config.js';
import type { EncryptionKey } from '../../../infrastructure/config/encryption-keys.js';
import type { PublicUrl } from '../../../infrastructure/http/public-url.js';
import { MediaLinks, readRange } from './content.service.js';

const MINUTE = 60_000;
const key = (version: number): EncryptionKey => ({ version, key: randomBytes(32) });
const linksWith = (...encryptionKeys: EncryptionKey[]): MediaLinks =>
  new MediaLinks(
    { security: { encryptionKeys } } as unknown as Config,
    { value: 'https://herald.example' } as PublicUrl,
  );

describe('MediaLinks', () => {
  const one = key(1);
  const links = linksWith(one);
  const media = { organizationId: newId(), id: newId() };
  const now = 1_795_248_000_000;
  const made = links.make(media, { now });
  const search = made.url.slice(made.url.indexOf('?') + 1);

  const codeOf = (id: string, query: string, at = now): string => {
    try {
      links.verify(id, query, at);
      return 'taken';
    } catch (error) {
      return (error as { code: string }).code;
    }
  };

  it('are absolute, last 15 minutes, and lead to the file', () => {
    expect(made.url).toMatch(
      new RegExp(
        `^https://herald\\.example/media/${media.id}/content\\?organization=.*&expires=\\d+&key=1&signature=.{43}$`,
      ),
    );
    expect(made.expiresAt.getTime()).toBe(now + 15 * MINUTE);
    expect(links.verify(media.id, search, now)).toEqual({ ...media, disposition: 'attachment' });
    expect(links.verify(media.id, search, now + 15 * MINUTE - 1)).toMatchObject(media);
  });

  it('are shown in a browser only where they were made for it', () => {
    const shown = new URL(links.make(media, { disposition: 'inline', now }).url).search.slice(1);
    expect(links.verify(media.id, shown, now)).toEqual({ ...media, disposition: 'inline' });
    for (const changed of [
      `disposition=inline&${search}`,
      shown.replace('disposition=inline&', ''),
      `${shown}&disposition=inline`,
    ]) {
      expect(codeOf(media.id, changed)).toBe('MEDIA_LINK_INVALID');
    }
  });

  it('end to the second', () => {
    expect(codeOf(media.id, search, now + 15 * MINUTE)).toBe('MEDIA_LINK_EXPIRED');
  });

  it('open nothing else: another file, workspace, time or key', () => {
    const parameters = new URLSearchParams(search);
    const changed = (name: string, value: string): string => {
      const other = new URLSearchParams(parameters);
      other.set(name, value);
      return other.toString();
    };
    expect(codeOf(newId(), search)).toBe('MEDIA_LINK_INVALID');
    expect(codeOf(media.id.toUpperCase(), search)).toBe('MEDIA_LINK_INVALID');
    expect(codeOf(media.id, changed('organization', newId()))).toBe('MEDIA_LINK_INVALID');
    expect(codeOf(media.id, changed('expires', String(now / 1_000 + 10_000_000)))).toBe('MEDIA_LINK_INVALID');
    expect(codeOf(media.id, changed('key', '2'))).toBe('MEDIA_LINK_INVALID');
    expect(codeOf(media.id, changed('signature', ''))).toBe('MEDIA_LINK_INVALID');
  });

  it('do not survive the change of any one bit', () => {
    for (const part of ['id', 'search'] as const) {
      const text = part === 'id' ? media.id : search;
      for (let at = 0; at < text.length; at++) {
        for (let bit = 0; bit < 8; bit++) {
          const flipped = String.fromCharCode(text.charCodeAt(at) ^ (1 << bit));
          const changed = text.slice(0, at) + flipped + text.slice(at + 1);
          const code = part === 'id' ? codeOf(changed, search) : codeOf(media.id, changed);
          expect(`${part} ${at} ${bit}: ${code}`).toBe(`${part} ${at} ${bit}: MEDIA_LINK_INVALID`);
        }
      }
    }
  });

  it('take no more, fewer or repeated parameters, and no other spelling', () => {
    const parameters = search.split('&');
    for (let left = 0; left < parameters.length; left++) {
      expect(codeOf(media.id, parameters.filter((_, at) => at !== left).join('&'))).toBe('MEDIA_LINK_INVALID');
      expect(codeOf(media.id, [...parameters, parameters[left]].join('&'))).toBe('MEDIA_LINK_INVALID');
    }
    for (const more of ['x=1', '', 'download', 'Key=1', '%6bey=1']) {
      expect(codeOf(media.id, `${search}&${more}`)).toBe('MEDIA_LINK_INVALID');
    }
    expect(codeOf(media.id, search.replace('expires=', 'expires=0'))).toBe('MEDIA_LINK_INVALID');
    expect(codeOf(media.id, `${search}%3D`)).toBe('MEDIA_LINK_INVALID');
    expect(codeOf(media.id, '')).toBe('MEDIA_LINK_INVALID');
    // The order means nothing.
    expect(codeOf(media.id, parameters.toReversed().join('&'))).toBe('taken');
  });

  it('outlive a new key as long as the old one is named', () => {
    const two = key(2);
    expect(linksWith(two, one).verify(media.id, search, now)).toEqual(media);
    expect(linksWith(one, two).make(media, { now }).url).toContain('&key=2&');
    expect(() => linksWith(two).verify(media.id, search, now)).toThrow();
    expect(() => linksWith(key(1)).verify(media.id, search, now)).toThrow();
  });
});

describe('readRange', () => {
  it.each([
    ['bytes=0-0', { start: 0, end: 0 }],
    ['bytes=2-4', { start: 2, end: 4 }],
    ['bytes=2-', { start: 2, end: 9 }],
    ['bytes=2-999', { start: 2, end: 9 }],
    ['bytes=-3', { start: 7, end: 9 }],
    ['bytes=-999', { start: 0, end: 9 }],
    ['BYTES=1-1', { start: 1, end: 1 }],
    ['bytes=10-', 'unsatisfiable'],
    ['bytes=10-20', 'unsatisfiable'],
    ['bytes=-0', 'unsatisfiable'],
    [undefined, null],
    ['', null],
    ['bytes=', null],
    ['bytes=-', null],
    ['bytes=4-2', null],
    ['bytes=0-1,3-4', null],
    ['lines=0-1', null],
    ['bytes=a-b', null],
    ['bytes=99999999999999999999-', null],
  ])('%s of ten bytes', (header, range) => {
    expect(readRange(header, 10)).toEqual(range);
  });
});
