import { type DynamicModule, Module } from '@nestjs/common';
import { BillingModule } from './modules/billing/billing.module.js';
import { ConnectionsModule } from './modules/connections/connections.module.js';
import { MediaModule } from './modules/media/media.module.js';
import { MessagesModule } from './modules/messages/messages.module.js';
import { NotificationsModule } from './modules/notifications/notifications.module.js';
import { OtpModule } from './modules/otp/otp.module.js';
import { ProfileModule } from './modules/profile/profile.module.js';
import { TemplatesModule } from './modules/templates/templates.module.js';
import { WebhookModule } from './modules/webhook/webhook.module.js';
import { AccessModule } from './platform/access/access.module.js';
import type { Config } from './platform/config/config.js';
import { ConfigModule } from './platform/config/config.module.js';
import { DatabaseModule } from './platform/database/database.module.js';
import { ErasureModule } from './platform/erasure/erasure.module.js';
import { HttpModule } from './platform/http/http.module.js';
import { LanesModule } from './platform/lanes/lanes.module.js';
import { QueueModule } from './platform/lanes/queue.module.js';
import { OperationsModule } from './platform/operations/operations.module.js';
import { SecretsModule } from './platform/secrets/secrets.module.js';
import { WhatsappModule } from './platform/whatsapp/whatsapp.module.js';

/**
 * The whole application at a glance. Modules are shut down in the opposite order, so those that hold connections
 * stand first.
 */
@Module({
  imports: [
    DatabaseModule,
    OperationsModule,
    QueueModule,
    WhatsappModule,
    LanesModule,
    SecretsModule,
    ErasureModule,
    AccessModule,
    HttpModule,
    BillingModule,
    ConnectionsModule,
    WebhookModule,
    MediaModule,
    ProfileModule,
    TemplatesModule,
    MessagesModule,
    OtpModule,
    NotificationsModule,
  ],
})
export class AppModule {
  /** The application with these settings. */
  static with(config: Config): DynamicModule {
    return { module: AppModule, imports: [ConfigModule.of(config)] };
  }
}
