import { Injectable, type OnModuleInit } from '@nestjs/common';
import { WorkspaceErasure } from '../../infrastructure/erasure/workspace-erasure.js';
import { ConnectionsService } from './connections.service.js';

/** Nothing is sent any more from the numbers of a workspace that is being deleted. */
@Injectable()
export class ConnectionErasure implements OnModuleInit {
  constructor(
    private readonly connections: ConnectionsService,
    private readonly workspaces: WorkspaceErasure,
  ) {}

  onModuleInit(): void {
    this.workspaces.add({
      stop: async (organizationId) => {
        for (const { id } of await this.connections.list(organizationId)) {
          await this.connections.disconnect(organizationId, id);
        }
      },
    });
  }
}
