import express from 'express';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expressConstructors } from '../../src/infrastructure/http/express-adapter.js';

// The least that Express can do with the request: read the body and answer. No key, no check, no database.
const app = express();
app.disable('x-powered-by');
app.disable('etag');
app.use(express.json());
app.post('/api/v1/messages', (request, response) => {
  response.status((request.body as unknown) === undefined ? 400 : 202);
  response.json({ data: { id: randomUUID(), status: 'queued' } });
});

const server = createServer(expressConstructors(app), app).listen(0, '127.0.0.1', () => {
  process.stdout.write(`listens on port ${(server.address() as AddressInfo).port}\n`);
});
process.once('SIGTERM', () => process.exit(0));
