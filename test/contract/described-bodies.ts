import { readFileSync } from 'node:fs';
import { newId } from '../../src/common/ids.js';
import { sendingWorkspace, type SendingWorkspace } from '../messages/fixture.js';
import type { ApiResponse } from '../support/api-client.js';
import { withCardsAlike, type Schema } from '../support/schema-arbitrary.js';
import { startTestApp, type TestApp } from '../support/test-app.js';

/** POST /messages as its description has it. */
interface Description {
  paths: Record<string, { post: { requestBody: { content: { 'application/json': Content } } } }>;
  components: { schemas: Record<string, Schema> };
}
interface Content {
  examples: Record<string, { value: Record<string, unknown> }>;
}
export type Body = Record<string, unknown>;

const description = JSON.parse(readFileSync('openapi.json', 'utf8')) as Description;
export const content = description.paths['/api/v1/messages']?.post.requestBody.content['application/json'] as Content;
const forms = description.components.schemas.SendMessage?.anyOf as { $ref: string }[];
export const names = forms.map(({ $ref }) => $ref.split('/').at(-1) ?? '');

const USER_ID = 'US.13491208655302741918';

export function schemaOf(ref: string): Schema {
  const found = description.components.schemas[ref.split('/').at(-1) ?? ''];
  if (found === undefined) throw new Error(`the description has no ${ref}`);
  return found;
}

/** A workspace to which bodies are sent. */
export class BodiesStage {
  private constructor(
    readonly test: TestApp,
    readonly workspace: SendingWorkspace,
    private readonly known: { to: string; earlier: string; conversation: string },
  ) {}

  static async start(): Promise<BodiesStage> {
    const test = await startTestApp({ roles: ['api', 'simulator'] });
    const workspace = await sendingWorkspace(test);
    const to = await workspace.contact();
    await test.database.execute('update conversation set user_id = $2 where phone = $1', [to, USER_ID]);
    const earlier = await workspace.sendText(to);
    const conversation = (await workspace.message(earlier)).conversation_id as string;
    return new BodiesStage(test, workspace, { to, earlier, conversation });
  }

  /** The values that only the workspace knows, in the place of made ones. */
  placed(body: Body): Body {
    const {
      media_object_id: _file,
      to: _to,
      recipient,
      connection_id: _connection,
      conversation_id,
      ...rest
    } = withCardsAlike(body);
    const { to, earlier, conversation } = this.known;
    const connection = { connection_id: this.workspace.connection.id };
    let address: Body = { ...connection, to };
    if (conversation_id !== undefined) address = { conversation_id: conversation };
    else if (recipient !== undefined) address = { ...connection, recipient: USER_ID };
    const reply = rest.reply_to_message_id === undefined ? {} : { reply_to_message_id: earlier };
    const media = rest.media as Body | undefined;
    // A UUID would be one of our own files, and there are none.
    const ownFile =
      media !== undefined && typeof media.id === 'string' ? { media: { ...media, id: '1037543291543636' } } : {};
    const time = rest.send_at === undefined ? {} : { send_at: new Date(Date.now() + 3_600_000).toISOString() };
    return { ...rest, ...reply, ...ownFile, ...time, ...address };
  }

  post(body: unknown): Promise<ApiResponse> {
    return this.workspace.api.post('/messages', body, { headers: { 'idempotency-key': newId() } });
  }
}
