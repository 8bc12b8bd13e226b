import { IsString, Length, Matches } from 'class-validator';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import type { SignupDialog } from '../../../infrastructure/whatsapp/signup-dialog.js';
import type { Connection } from '../../connections/connections.types.js';
import { type SetupLink, type SetupStep, type SetupProblem, stepsOf } from '../setup.types.js';

const PLATFORM_ID = /^\d{5,25}$/;

/** Body of a step. Which fields it needs depends on the step and on how the link signs up. */
export class SetupStepRequest {
  /** Of the dialog. */
  @IfGiven()
  @IsString()
  @Length(1, 4_000)
  code?: string;

  @IfGiven()
  @IsString()
  @Length(1, 2_000)
  access_token?: string;

  @IfGiven()
  @Matches(PLATFORM_ID, { message: 'waba_id must be the id as WhatsApp shows it: 5 to 25 digits.' })
  waba_id?: string;

  @IfGiven()
  @Matches(PLATFORM_ID, { message: 'phone_number_id must be the id as WhatsApp shows it: 5 to 25 digits.' })
  phone_number_id?: string;

  @IfGiven()
  @Matches(/^\d{6}$/, { message: 'pin must be 6 digits.' })
  pin?: string;

  /** Whom the test message goes to. */
  @IfGiven()
  @Matches(/^\+?[1-9]\d{6,14}$/, { message: 'to must be a phone number with its country code, such as +15550001234.' })
  to?: string;

  /** From the answer to the step that completed the link. */
  @IfGiven()
  @IsString()
  @Length(1, 100)
  continuation?: string;
}

/** What the page shows. */
export interface SetupPageState {
  workspace: string;
  signup: SetupLink['signup'];
  locale: string;
  expires_at: string;
  /** Of embedded signup; null: ids and a token are pasted. */
  dialog: { app_id: string; config_id: string; api_version: string; simulator_url: string | null } | null;
  steps: { name: SetupStep; state: 'open' | 'done' | 'failed'; problem: PageProblem | null }[];
  /** Where the page leads back to; null: nowhere. */
  return_url: string | null;
  /** Once it is connected. */
  connection: { phone_number: string; verified_name: string | null; status: string } | null;
  /** For the steps that remain; in the answer to the step that completed the link only. */
  continuation: string | null;
}

interface PageProblem extends Pick<SetupProblem, 'code' | 'message' | 'field'> {
  mended_by: SetupProblem['mendedBy'];
  platform_message: string | null;
}

export function pageStateOf(
  link: SetupLink,
  given: {
    workspace: string;
    dialog: SignupDialog | null;
    returnUrl: string | null;
    connection: Connection | null;
    continuation: string | null;
  },
): SetupPageState {
  const { workspace, dialog, returnUrl, connection, continuation } = given;
  return {
    workspace,
    signup: link.signup,
    locale: link.locale,
    expires_at: link.expiresAt.toISOString(),
    dialog:
      dialog === null || link.signup === 'manual'
        ? null
        : {
            app_id: dialog.appId,
            config_id: dialog.configId,
            api_version: dialog.apiVersion,
            simulator_url: dialog.simulatorUrl,
          },
    steps: stepsOf(link.signup).map((name) => {
      const { state, problem } = link.steps[name] ?? { state: 'open', problem: null };
      return { name, state, problem: problem && pageProblem(problem) };
    }),
    return_url: returnUrl,
    connection: connection && {
      phone_number: connection.phoneNumber,
      verified_name: connection.verifiedName,
      status: connection.status,
    },
    continuation,
  };
}

function pageProblem({ code, message, field, mendedBy, platform }: SetupProblem): PageProblem {
  return { code, message, field, mended_by: mendedBy, platform_message: platform };
}
