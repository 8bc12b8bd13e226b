import { ageMirror, type TemplateStage, type TemplateWorkspace } from './fixture.js';

/** Lists, and while the platform's answer is on its way does something else; what the answer shows is old by then. */
export async function whileListing(
  { test, platform }: TemplateStage,
  workspace: TemplateWorkspace,
  work: () => Promise<unknown>,
): Promise<void> {
  let worked: Promise<unknown> | undefined;
  platform.beforePage = async ({ path }) => {
    if (!path.includes(workspace.wabaId)) return;
    await (worked ??= work());
  };
  await ageMirror(test, workspace.wabaId, 61);
  await workspace.api.get(workspace.path);
  expect(worked).toBeDefined();
  await worked;
  platform.beforePage = () => undefined;
}

/** What the mirror says, without asking the platform. */
export async function mirrored(
  { test }: TemplateStage,
  { wabaId }: TemplateWorkspace,
): Promise<Record<string, string>> {
  const rows = await test.database.query<{ name: string; status: string }>(
    'select name, status from template where waba_id = $1 and deleted_at is null',
    [wabaId],
  );
  return Object.fromEntries(rows.map(({ name, status }) => [name, status]));
}
