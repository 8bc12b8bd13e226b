import { controlRoutes } from './control/control.routes.js';
import { inboundRoutes } from './control/inbound.routes.js';
import { preferenceRoutes } from './control/preference.routes.js';
import { flowRoutes } from './flows.routes.js';
import { SimulatorServer } from './http/server.js';
import { mediaRoutes } from './media/media.routes.js';
import { uploadRoutes } from './media/upload.routes.js';
import { messageRoutes } from './messages/message.routes.js';
import { appRoutes } from './numbers/app.routes.js';
import { customerRoutes } from './numbers/customers.routes.js';
import { numberRoutes } from './numbers/number.routes.js';
import { profileRoutes } from './numbers/profile.routes.js';
import { threadRoutes } from './numbers/thread.routes.js';
import { signupRoutes } from './numbers/signup.routes.js';
import { registrationRoutes } from './numbers/registration.routes.js';
import { Platform } from './platform.js';
import type { SimulatorOptions } from './simulator.types.js';
import { templateRoutes } from './templates/template.routes.js';

/** A stand-in for the WhatsApp Cloud API: the platform with its calls, and those by which a tester controls it. */
export class Simulator extends Platform {
  private readonly server: SimulatorServer;

  constructor(options: SimulatorOptions) {
    super(options);
    this.server = new SimulatorServer(this, [
      // First, because they are many.
      ...messageRoutes(this),
      ...mediaRoutes(this),
      ...templateRoutes(this),
      ...numberRoutes(this),
      ...threadRoutes(this),
      ...appRoutes(this),
      ...registrationRoutes(this),
      ...signupRoutes(this),
      ...profileRoutes(this),
      ...customerRoutes(this),
      ...flowRoutes(this),
      ...uploadRoutes(this),
      ...controlRoutes(this, (ms) => this.server.closeFor(ms)),
      ...inboundRoutes(this),
      ...preferenceRoutes(this),
    ]);
  }

  /** Listens, and takes up what a former run left in `dataDir`. Rejects where the port is taken. */
  async start(): Promise<{ port: number; url: string }> {
    const { port: wanted, host, numbers } = this.options;
    for (const number of numbers) this.registerNumber(number);
    const port = await this.server.listen(wanted, host);
    this.store.open();
    this.media.open();
    for (const message of this.messages.all()) this.schedule.add(message);
    for (const item of this.queued.values()) this.courier.enqueue(item);
    this.templateReviewer.start();
    return { port, url: `http://${host}:${port}` };
  }

  /** Closes at once; what was not acknowledged yet is posted after the next start with the same `dataDir`. */
  async stop(): Promise<void> {
    await this.server.close();
    this.schedule.clear();
    this.templateReviewer.stop();
    await this.courier.stop();
    this.media.close();
    this.store.close();
  }
}
