import { type AdminApp, type AdminClient, startAdminApp } from '../admin/fixture.js';
import type { ApiBody, ApiResponse } from '../support/api-client.js';
import type { TestAppOptions } from '../support/test-app.js';

export const RETURN_ORIGIN = 'https://app.example.com';

/** How a dialog of the simulator ends. */
export interface DialogEnd {
  outcome?: string;
  feature?: string;
  phone_number_id?: string;
  display_phone_number?: string;
}

export interface DialogResult {
  code: string;
  event: string;
  data: { phone_number_id?: string; waba_id: string };
}

export interface Step {
  name: string;
  state: string;
  problem: {
    code: string;
    message: string;
    mended_by: string;
    field: string | null;
    platform_message: string | null;
  } | null;
}

let numbers = 0;

/** A link as the page of it sees it. */
export class SetupVisitor {
  constructor(
    private readonly setup: SetupApp,
    readonly workspaceId: string,
    readonly linkId: string,
    readonly url: string,
  ) {}

  get path(): string {
    return new URL(this.url).pathname;
  }

  state(): Promise<ApiResponse<ApiBody>> {
    return this.setup.admin.test.api.get(`${this.path}/state`);
  }

  step(name: string, body: object = {}): Promise<ApiResponse<ApiBody>> {
    return this.setup.admin.test.api.post(`${this.path}/steps/${name}`, body);
  }

  /** Takes the step, which must be answered, and says how it went. */
  async took(name: string, body: object = {}): Promise<Step> {
    const answer = await this.step(name, body);
    if (answer.status !== 200) throw new Error(`${name}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return (answer.body.data.steps as Step[]).find((step) => step.name === name) as Step;
  }

  /** What the dialog tells the page, as the body of the step that comes then. */
  async dialog(end: DialogEnd = {}): Promise<{ code: string; waba_id: string; phone_number_id?: string }> {
    const { code, data } = await this.setup.dialog(end);
    return { code, ...data };
  }
}

export class SetupApp {
  private constructor(
    readonly admin: AdminApp,
    readonly api: AdminClient,
  ) {}

  static async start(options: TestAppOptions = {}): Promise<SetupApp> {
    const env = { SETUP_RETURN_ORIGINS: RETURN_ORIGIN, ...options.env };
    const admin = await startAdminApp({ roles: ['api', 'simulator'], ...options, env });
    return new SetupApp(admin, await admin.operator());
  }

  stop(): Promise<void> {
    return this.admin.test.stop();
  }

  /** A new link of a new workspace, which has paid. */
  async link(body: object = {}, workspaceId?: string): Promise<SetupVisitor> {
    const id = workspaceId ?? (await this.admin.test.factories.workspace()).id;
    const made = await this.api.post(`/workspaces/${id}/setup-links`, body);
    return new SetupVisitor(this, id, made.body.data.id, made.body.data.url);
  }

  /** Ends the dialog of the simulator, with a new number where none is named. */
  async dialog(end: DialogEnd = {}): Promise<DialogResult> {
    const display = `+1 650-555-${String(1_000 + numbers++)}`;
    const answer = await fetch(`${this.admin.test.simulatorUrl}/dialog/signup`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ display_phone_number: display, verified_name: 'Lighthouse Coffee', ...end }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as DialogResult;
  }

  async connections(workspaceId: string): Promise<{ id: string; phone_number_id: string; status: string }[]> {
    return (await this.api.get(`/workspaces/${workspaceId}/connections`)).body.data;
  }
}
