import { request } from 'node:http';

/** A handler of requests that sends each on to the plain address, with more headers, and answers what that does. */
export function forwardTo(address, more = {}) {
  const { hostname, port } = new URL(address);
  return (req, res) => {
    const headers = { ...req.headers, ...more };
    const forwarded = request({ hostname, port, path: req.url, method: req.method, headers }, (answer) => {
      res.writeHead(answer.statusCode, answer.headers);
      answer.pipe(res);
    });
    forwarded.once('error', () => res.destroy());
    res.once('close', () => forwarded.destroy());
    req.pipe(forwarded);
  };
}
