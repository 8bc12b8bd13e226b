import { defineErrors, error } from '../../common/define-errors.js';

export const workspacesErrors = defineErrors('workspaces', {
  WORKSPACE_NOT_FOUND: error({
    kind: 'not_found',
    message: 'There is no such workspace; list those of this key with GET /api/admin/v1/workspaces.',
    when: 'The workspace does not exist, was deleted, or is none of those to which the operator key is limited.',
    fix: 'Check the id; `GET /api/admin/v1/workspaces?external_id=` finds a workspace by your own id.',
  }),
  WORKSPACE_DELETING: error({
    kind: 'conflict',
    message: 'This workspace is being deleted and takes no changes.',
    when: 'The deletion of the workspace was requested, and it is not over.',
    fix: 'Make a new workspace. `GET` answers 404 once the deletion is over.',
  }),
  WORKSPACE_EXTERNAL_ID_TAKEN: error({
    kind: 'conflict',
    message: 'Another workspace has this external_id; find it with GET /api/admin/v1/workspaces?external_id=.',
    when: 'The `external_id` is that of another workspace.',
    fix: 'Use the workspace that has it, or another `external_id`. An `Idempotency-Key` makes a repeat of POST safe.',
  }),
  WORKSPACE_EXTERNAL_ID_FIXED: error({
    kind: 'forbidden',
    message:
      'This operator key is limited to some workspaces, and an external_id concerns all; use a key without that limit.',
    when: 'An operator key that is limited to some workspaces changes an `external_id`.',
    fix: 'Change it with an operator key that was made without `--workspaces`.',
  }),
  SPEND_LIMIT_NEEDS_PRICES: error({
    kind: 'conflict',
    message:
      'there are no prices to estimate a cost with; set them first: herald rates set --file <path>, or PUT /api/admin/v1/rates.',
    when: 'A limit of spending was set where no prices are.',
    fix: 'Set prices first (docs/usage.md), then the limit.',
  }),
});
