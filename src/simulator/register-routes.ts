import { registerControlRoutes } from './control/control.routes.js';
import { registerInboundRoutes } from './control/inbound.routes.js';
import { registerMediaControlRoutes } from './control/media-control.routes.js';
import { registerNumberControlRoutes } from './control/number-control.routes.js';
import { registerTemplateControlRoutes } from './control/template-control.routes.js';
import { registerMediaRoutes } from './media/media.routes.js';
import { registerMessageRoutes } from './messages/message.routes.js';
import { registerDebugTokenRoutes } from './numbers/debug-token.routes.js';
import { registerNumberRoutes } from './numbers/number.routes.js';
import { registerProfileRoutes } from './profile/profile.routes.js';
import type { SimulatorContext } from './simulator-context.js';
import { registerTemplateListRoutes } from './templates/template-list.routes.js';
import { registerTemplateRoutes } from './templates/template.routes.js';
import { registerUploadRoutes } from './uploads/upload.routes.js';

const RESOURCES = [
  registerNumberRoutes,
  registerDebugTokenRoutes,
  registerMessageRoutes,
  registerMediaRoutes,
  registerProfileRoutes,
  registerTemplateListRoutes,
  registerTemplateRoutes,
  registerUploadRoutes,
  registerControlRoutes,
  registerInboundRoutes,
  registerTemplateControlRoutes,
  registerMediaControlRoutes,
  registerNumberControlRoutes,
];

/** Registers every call that the simulator answers. */
export function registerRoutes(context: SimulatorContext): void {
  for (const register of RESOURCES) register(context);
}
