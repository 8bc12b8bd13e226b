/** Of which the demo has one of each, so that a request about one finds it. */
const IN_THE_DEMO = new Set([
  'connections',
  'conversations',
  'media',
  'messages',
  'opt-outs',
  'otp',
  'tags',
  'usage',
  'webhook',
]);

/** Whether a request to this address must find what it names: of other resources the demo has none. */
export function isInTheDemo(path: string): boolean {
  const [resource = '', ...rest] = path.replace(/^.*\/api\/v1\//, '').split('/');
  return rest.length === 0 || IN_THE_DEMO.has(resource);
}
