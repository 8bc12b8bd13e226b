/** Whether an `If-None-Match` header lists this strong tag (RFC 9110, 13.1.2). */
export function noneMatchNames(header: string | undefined, etag: string): boolean {
  return header?.split(',').some((item) => ['*', etag, `W/${etag}`].includes(item.trim())) ?? false;
}
