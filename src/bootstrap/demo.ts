import { Logger, type INestApplicationContext } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import { ConnectionsService } from '../modules/connections/connections.service.js';
import type { Connection } from '../modules/connections/connections.types.js';
import { ApiKeysService } from '../infrastructure/access/api-keys.service.js';
import { isOtpScope, SCOPES } from '../infrastructure/access/scopes.js';
import { WorkspacesService } from '../infrastructure/access/workspaces.service.js';
import type { Workspace } from '../infrastructure/access/workspaces.types.js';
import { DEMO_NUMBERS } from '../simulator/demo-numbers.js';
import type { SimulatorNumber } from '../simulator/simulator.types.js';
import { readDemoKey } from './demo-file.js';

const WORKSPACE_NAME = 'Demo';
const KEY_NAME = 'Demo key';
const YEAR_MS = 365 * 24 * 3_600_000;

export interface DemoWorkspace {
  organizationId: string;
  apiKey: string;
  /** One for each of the simulator's numbers, in their order. */
  connections: Connection[];
}

/**
 * Makes the demo workspace at the first start, and mends what is missing of it at every other. The key stays the same
 * for as long as `DATA_DIR/demo.json` is kept.
 */
export class Demo {
  private readonly logger = new Logger('Demo');
  private readonly workspaces: WorkspacesService;
  private readonly keys: ApiKeysService;
  private readonly connections: ConnectionsService;

  constructor(
    app: INestApplicationContext,
    private readonly dataDir: string,
  ) {
    this.workspaces = app.get(WorkspacesService);
    this.keys = app.get(ApiKeysService);
    this.connections = app.get(ConnectionsService);
  }

  async prepare(): Promise<DemoWorkspace> {
    const workspace = await this.workspace();
    const organizationId = workspace.id;
    const apiKey = (await this.knownKey(organizationId)) ?? (await this.newKey(organizationId));
    const connections: Connection[] = [];
    for (const number of DEMO_NUMBERS) connections.push(await this.connection(organizationId, number));
    return { organizationId, apiKey, connections };
  }

  private async workspace(): Promise<Workspace> {
    const known = (await this.workspaces.list()).find((workspace) => workspace.name === WORKSPACE_NAME);
    const workspace = known ?? (await this.workspaces.create(WORKSPACE_NAME));
    if (known === undefined) this.logger.log('made the demo workspace');
    const paidUntil = workspace.apiPaidUntil?.getTime() ?? 0;
    if (paidUntil > Date.now() + YEAR_MS) return workspace;
    return this.workspaces.setSubscription(workspace.id, new Date(Date.now() + 10 * YEAR_MS));
  }

  /** The key of an earlier start, where it still opens this workspace. */
  private async knownKey(organizationId: string): Promise<string | null> {
    const text = readDemoKey(this.dataDir);
    if (text === null) return null;
    try {
      const caller = await this.keys.authenticate(text);
      return caller.organizationId === organizationId ? text : null;
    } catch {
      return null;
    }
  }

  private async newKey(organizationId: string): Promise<string> {
    for (const key of await this.keys.list(organizationId)) {
      if (key.name === KEY_NAME && key.revokedAt === null) await this.keys.revoke(key.id);
    }
    const scopes = SCOPES.filter((scope) => !isOtpScope(scope));
    const { key } = await this.keys.create({ organizationId, name: KEY_NAME, scopes });
    return key;
  }

  private async connection(organizationId: string, number: SimulatorNumber): Promise<Connection> {
    const { phoneNumberId, wabaId, displayPhoneNumber, verifiedName } = number;
    const known = await this.connections.findByPhoneNumberId(phoneNumberId);
    if (known?.organizationId === organizationId) return known;
    return this.connections.add({
      organizationId,
      phoneNumberId,
      wabaId,
      phoneNumber: displayPhoneNumber.replaceAll(/\D/g, ''),
      verifiedName,
      // The simulator takes any token; a real one never stands in a demo.
      token: `demo-${randomBytes(16).toString('hex')}`,
    });
  }
}
