import { uploadName } from './upload-name.js';

describe('the name of an upload', () => {
  it.each([
    ['image/jpeg', 'holiday.jpeg', 'file.jpg'],
    ['image/jpeg', 'virus.exe', 'file.jpg'],
    ['audio/ogg; codecs=opus', null, 'file.ogg'],
    ['Application/PDF', 'x', 'file.pdf'],
    ['application/zip', 'secret plans.ZIP', 'file.zip'],
    ['application/zip', '../../a.b/c', 'file.bin'],
    ['application/zip', 'a."\r\n', 'file.bin'],
    ['', null, 'file.bin'],
  ])('of %j called %j is %s', (mimeType, filename, expected) => {
    expect(uploadName(mimeType, filename)).toBe(expected);
  });
});
