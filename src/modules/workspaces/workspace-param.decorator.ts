import { createParamDecorator, type ExecutionContext, Injectable, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { EXAMPLE_WORKSPACE_ID } from '../../common/example-ids.js';
import { ApiErrors } from '../../infrastructure/http/api-description.js';
import type { HeraldRequest } from '../../infrastructure/http/herald-request.js';
import { workspacesErrors } from './workspaces.errors.js';
import { type Workspace, WorkspacesService } from './workspaces.service.js';

const NAME = 'workspace_id';
/** Methods allowed on a workspace that is being deleted. */
const HARMLESS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE']);

/**
 * The workspace of the path. One that the operator key may not see is looked up too, and gets the same answer as an
 * unknown one.
 */
@Injectable()
export class WorkspaceOfPath implements PipeTransform<HeraldRequest, Promise<Workspace>> {
  constructor(private readonly workspaces: WorkspacesService) {}

  /** @throws WORKSPACE_NOT_FOUND (404), WORKSPACE_DELETING (409) for a change. */
  async transform(req: HeraldRequest): Promise<Workspace> {
    const workspace = await this.workspaces.findById(String(req.params[NAME]));
    const { workspaceIds = [] } = req.operator ?? {};
    if (workspace === null || workspaceIds?.includes(workspace.id) === false)
      throw workspacesErrors.WORKSPACE_NOT_FOUND();
    req.organizationId = workspace.id;
    if (workspace.deletionRequestedAt !== null && !HARMLESS.has(req.method))
      throw workspacesErrors.WORKSPACE_DELETING();
    return workspace;
  }
}

const Requested = createParamDecorator((_data: unknown, context: ExecutionContext) =>
  context.switchToHttp().getRequest<HeraldRequest>(),
);

/** Passes a route of the admin API below `:workspace_id` its workspace, and describes the parameter. */
export function WorkspaceParam(): ParameterDecorator {
  return (target, key, index) => {
    Requested(WorkspaceOfPath)(target, key, index);
    const descriptor = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (key === undefined || descriptor === undefined) return;
    const description = 'Workspace ID, from GET /workspaces.';
    ApiParam({ name: NAME, format: 'uuid', description, example: EXAMPLE_WORKSPACE_ID })(target, key, descriptor);
    ApiErrors('WORKSPACE_NOT_FOUND', 'WORKSPACE_DELETING')(target, key, descriptor);
  };
}
