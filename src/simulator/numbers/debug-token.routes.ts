import { GraphError } from '../graph-error.js';
import { jsonAnswer } from '../http/answer.js';
import type { SimulatorContext } from '../simulator-context.js';
import { SIMULATED_APP } from './simulated-app.js';

const SCOPES = ['business_management', 'whatsapp_business_management', 'whatsapp_business_messaging'];

/** Registers `GET /debug_token?input_token=`: whether a token is good, and what for. */
export function registerDebugTokenRoutes({ router, tokens, numbers }: SimulatorContext): void {
  router.resolveNodes((id) => (id === 'debug_token' ? 'debug_token' : null));
  router.graph('GET', 'debug_token', '', (call) => {
    const token = call.query.get('input_token');
    if (token === null || token === '') {
      throw new GraphError(100, { message: '(#100) You must provide an input token.' });
    }
    const valid = tokens.isValid(token);
    const accounts = [...new Set(numbers.all().map(({ wabaId }) => wabaId))];
    return jsonAnswer({
      data: {
        app_id: SIMULATED_APP.id,
        type: 'SYSTEM_USER',
        application: SIMULATED_APP.name,
        expires_at: 0,
        is_valid: valid,
        ...(valid
          ? {}
          : {
              error: { code: 190, subcode: 463, message: 'Error validating access token: it is not valid any more.' },
            }),
        scopes: valid ? SCOPES : [],
        granular_scopes: valid ? SCOPES.slice(1).map((scope) => ({ scope, target_ids: accounts })) : [],
      },
    });
  });
}
