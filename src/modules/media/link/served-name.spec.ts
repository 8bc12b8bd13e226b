import { servedName } from './served-name.js';

describe('the name of a served file', () => {
  it.each([
    ['a.png', 'image/png', 'a.png'],
    ['A.PNG', 'image/png', 'A.PNG'],
    ['photo.jpeg', 'image/jpeg', 'photo.jpeg'],
    ['list.csv', 'text/plain', 'list.csv'],
    ['voice.opus', 'audio/ogg; codecs=opus', 'voice.opus'],
    ['customers.zip', 'application/zip', 'customers.zip'],
    ['README', 'application/zip', 'README'],
    [null, 'application/pdf', 'id.pdf'],
    [null, 'application/zip', 'id.bin'],
  ])('%s of %s is %s', (filename, mimeType, served) => {
    expect(servedName(filename, 'id', mimeType)).toBe(served);
  });

  it.each([
    ['a.html', 'image/png', 'a.html.png'],
    ['a.png.HTML', 'image/png', 'a.png.HTML.png'],
    ['a.svg', 'text/plain', 'a.svg.txt'],
    ['a.js', 'text/plain', 'a.js.txt'],
    ['a', 'application/pdf', 'a.pdf'],
    ['report 2026.01', 'application/pdf', 'report 2026.01.pdf'],
    ['a.html', 'application/zip', 'a.html.bin'],
    ['a.html.', 'application/zip', 'a.html..bin'],
    ['a.exe ', 'application/octet-stream', 'a.exe .bin'],
    ['a.png.', 'image/png', 'a.png..png'],
  ])('%s of %s becomes %s', (filename, mimeType, served) => {
    expect(servedName(filename, 'id', mimeType)).toBe(served);
  });
});
