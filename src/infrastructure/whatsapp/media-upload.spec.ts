import { bodyOf, LengthMismatchError, multipartAround } from './media-client.js';

async function* chunks(...texts: string[]): AsyncGenerator<Buffer> {
  for (const text of texts) yield await Promise.resolve(Buffer.from(text));
}

async function whole(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

const FILE = { name: 'file', filename: 'file.jpg', mimeType: 'image/jpeg', sizeBytes: 8 };

describe('a multipart body', () => {
  it('reads as its fields and its file, and is as long as it says', async () => {
    const multipart = multipartAround(FILE, { messaging_product: 'whatsapp', type: 'image/jpeg' });
    const body = await whole(bodyOf(multipart, () => Promise.resolve(chunks('abc', 'defgh')), 8));
    expect(body).toHaveLength(multipart.contentLength);
    const form = await new Response(new Uint8Array(body), {
      headers: { 'content-type': multipart.contentType },
    }).formData();
    expect([form.get('messaging_product'), form.get('type')]).toEqual(['whatsapp', 'image/jpeg']);
    const file = form.get('file') as File;
    expect([file.name, file.type, await file.text()]).toEqual(['file.jpg', 'image/jpeg', 'abcdefgh']);
  });

  it('lets no name leave its quotes', () => {
    const { head } = multipartAround({ ...FILE, filename: 'a"\r\nx: y.jpg' }, {});
    expect(head.toString()).toContain('filename="a%22%0D%0Ax: y.jpg"');
  });

  it.each([
    ['shorter', ['abc']],
    ['longer', ['abcde', 'fghi']],
  ])('stops where the file is %s than it was said to be', async (_name, texts) => {
    const body = bodyOf(multipartAround(FILE, {}), () => Promise.resolve(chunks(...texts)), 8);
    await expect(whole(body)).rejects.toThrow(LengthMismatchError);
  });

  it('opens the file only when it is its turn', async () => {
    let opened = 0;
    const open = (): Promise<AsyncIterable<Buffer>> => {
      opened += 1;
      return Promise.resolve(chunks('abcdefgh'));
    };
    const body = bodyOf(multipartAround(FILE, {}), open, 8);
    await body.next();
    expect(opened).toBe(0);
    await body.next();
    expect(opened).toBe(1);
  });
});
