import { OPERATOR_SCOPES, type OperatorScope } from '../../src/infrastructure/http/scopes.js';
import { OperatorKeysService } from '../../src/modules/keys/operator/operator-keys.service.js';
import type { ApiBody, ApiClient, ApiResponse } from '../support/api-client.js';
import { startTestApp, type TestApp, type TestAppOptions } from '../support/test-app.js';

const PREFIX = '/api/admin/v1';

/** Calls the admin API with one key; paths are below /api/admin/v1. */
export class AdminClient {
  constructor(
    private readonly api: ApiClient,
    readonly keyId: string,
    readonly key: string,
  ) {}

  get<B = ApiBody>(path: string): Promise<ApiResponse<B>> {
    return this.api.get<B>(`${PREFIX}${path}`);
  }

  /** All rows of a list, two a page. @param path with its question mark */
  async pages<Row>(path: string): Promise<Row[]> {
    const rows: Row[] = [];
    for (let place = ''; ;) {
      const { body } = await this.get<{ data: Row[]; pagination: ApiBody['pagination'] }>(
        `${path}${path.endsWith('?') ? '' : '&'}limit=2${place}`,
      );
      rows.push(...body.data);
      const { next_before: before, next_before_id: id } = body.pagination;
      if (before === null) return rows;
      place = `&before=${encodeURIComponent(before)}&before_id=${id}`;
    }
  }

  post<B = ApiBody>(path: string, body?: unknown, idempotencyKey?: string): Promise<ApiResponse<B>> {
    const headers: Record<string, string> = idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey };
    return this.api.post<B>(`${PREFIX}${path}`, body, { headers });
  }

  call<B = ApiBody>(method: 'PATCH' | 'PUT' | 'DELETE', path: string, body?: unknown): Promise<ApiResponse<B>> {
    return this.api.request<B>({ method, path: `${PREFIX}${path}`, body });
  }
}

export interface AdminApp {
  test: TestApp;
  /** A client with a new key: of all scopes and workspaces where nothing else is said. */
  operator(given?: {
    scopes?: readonly OperatorScope[];
    workspaceIds?: readonly string[] | null;
    expiresAt?: Date | null;
  }): Promise<AdminClient>;
}

export async function startAdminApp(options: TestAppOptions = {}): Promise<AdminApp> {
  const test = await startTestApp(options);
  const keys = test.app.get(OperatorKeysService);
  return {
    test,
    operator: async ({ scopes = OPERATOR_SCOPES, workspaceIds = null, expiresAt = null } = {}) => {
      const { id, key } = await keys.create({ name: 'test', scopes, workspaceIds, expiresAt });
      return new AdminClient(test.api.as(key), id, key);
    },
  };
}
