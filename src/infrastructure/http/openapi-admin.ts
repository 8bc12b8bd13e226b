import type { INestApplication } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { EXAMPLE_URL, OPERATOR_SECURITY_SCHEME } from './api-description.js';
import { ADMIN_PREFIX } from './api-version.js';
import { buildOpenApiDocument, type DescribedApi } from './openapi.js';

const DESCRIPTION = `Workspaces, their keys and numbers, codes, prices, usage and the audit trail over HTTP: what the commands on the
server do, for a program that builds on Herald. Messages are sent by the [API of messages](/docs).

**Key:** \`herald operator-key create --name <name> --scopes <list>\` on the server shows one once. None exists at first, and without one
every route answers 401; with one \`POST /operator-keys\` makes others. A key may be limited to some workspaces: other workspaces do not exist for it, lists hold its own only, and what concerns
the whole installation is 403 \`OPERATOR_KEY_LIMITED\`.

**Answers, errors, paging, headers and rate limits** are those of the API of messages. Any POST takes an \`Idempotency-Key\`: within 24 hours a repeat with the same key
and body answers the same object and makes nothing new. A key of a workspace, an operator key and the address of a
setup link are in the first answer only.`;

const ADMIN_API: DescribedApi = {
  title: 'Herald administration',
  description: DESCRIPTION,
  prefix: ADMIN_PREFIX,
  tags: [
    ['Key', 'What the operator key of the call may do. Any valid operator key.'],
    ['Workspaces', 'Make, change and delete workspaces. Scopes: `workspaces:read`, `workspaces:write`.'],
    ['Operator keys', 'Keys of this API. Scopes: `operator-keys:read`, `operator-keys:write`.'],
    ['Keys', 'API keys of a workspace. Scopes: `keys:read`, `keys:write`.'],
    ['Numbers', 'WhatsApp numbers of a workspace. Scopes: `connections:read`, `connections:write`.'],
    [
      'Setup links',
      'Pages on which a business connects its number itself. Scopes: `connections:read`, `connections:write`.',
    ],
    [
      'People',
      'Who signs in, with which role in a workspace, and who is invited. Scopes: `people:read`, `people:write`.',
    ],
    ['Erasures', 'Remove what a workspace holds of one person. Scope: `erasures:write`.'],
    ['Codes', 'Projects that send one-time codes, their packages, and the sender. Scopes: `otp:read`, `otp:write`.'],
    ['Prices', 'Prices of billable messages, for estimated costs. Scopes: `billing:read`, `billing:write`.'],
    ['Usage', 'What all workspaces sent in a month, and what it cost. Scope: `usage:read`.'],
    [
      'Events',
      'What was added, changed and removed, for a reader that polls: each once, in order. Scope: `events:read`.',
    ],
    ['Audit', 'Who changed what and when. Scope: `audit:read`.'],
    ['Installation', 'What runs, and what waits in its queues. Scope: `installation:read`.'],
  ],
  keys: {
    [OPERATOR_SECURITY_SCHEME]: {
      format: 'hrld_admin_<id>_<secret>',
      description:
        'An operator key, shown once when it was made: `herald operator-key create --name ... --scopes ...`.',
    },
  },
  webhooks: {},
  client: { make: 'createHeraldAdmin', variable: 'admin', option: 'operatorKey' },
};

/** The description of the admin API, a separate document. Otherwise like `buildOpenApiDocument`. */
export function buildAdminDocument(app: INestApplication, publicUrl = EXAMPLE_URL): OpenAPIObject {
  return buildOpenApiDocument(app, publicUrl, ADMIN_API);
}
