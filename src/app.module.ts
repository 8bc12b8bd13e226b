import { type DynamicModule, Module } from '@nestjs/common';
import { AuditModule } from './modules/audit/audit.module.js';
import { BillingModule } from './modules/billing/billing.module.js';
import { ConnectionsModule } from './modules/connections/connections.module.js';
import { AccessGuard } from './modules/keys/access.guard.js';
import { OperatorRepeats } from './modules/keys/operator/operator-repeats.interceptor.js';
import { KeysModule } from './modules/keys/keys.module.js';
import { GraphModule } from './modules/graph/graph.module.js';
import { McpModule } from './modules/mcp/mcp.module.js';
import { MediaModule } from './modules/media/media.module.js';
import { MessageStateModule } from './modules/message-state/message-state.module.js';
import { MessagesModule } from './modules/messages/messages.module.js';
import { ConversationsModule } from './modules/conversations/conversations.module.js';
import { SendingModule } from './modules/sending/sending.module.js';
import { InboundModule } from './modules/inbound/inbound.module.js';
import { PeopleModule } from './modules/people/people.module.js';
import { OptOutsModule } from './modules/opt-outs/opt-outs.module.js';
import { OtpModule } from './modules/otp/otp.module.js';
import { ProfileModule } from './modules/profile/profile.module.js';
import { SetupModule } from './modules/setup/setup.module.js';
import { TagsModule } from './modules/tags/tags.module.js';
import { TemplatesModule } from './modules/templates/templates.module.js';
import { UsageModule } from './modules/usage/usage.module.js';
import { DestinationsModule } from './modules/destinations/destinations.module.js';
import { WebhookModule } from './modules/webhook/webhook.module.js';
import { WorkspaceReads } from './modules/workspaces/workspace-reads.interceptor.js';
import { WorkspacesModule } from './modules/workspaces/workspaces.module.js';
import type { Config } from './infrastructure/config/config.js';
import { ConfigModule } from './infrastructure/config/config.module.js';
import { DatabaseModule } from './infrastructure/database/database.module.js';
import { HttpModule } from './infrastructure/http/http.module.js';
import { LateReads } from './infrastructure/http/late-reads.interceptor.js';
import { QueueModule } from './infrastructure/queue/queue.module.js';
import { OperationsModule } from './infrastructure/operations/operations.module.js';
import { RatesModule } from './infrastructure/rates/rates.module.js';
import { SecretsModule } from './infrastructure/secrets/secrets.module.js';
import { WhatsappModule } from './infrastructure/whatsapp/whatsapp.module.js';

/**
 * The whole application at a glance. Modules are shut down in the opposite order, so those that hold connections
 * are first.
 */
@Module({
  imports: [
    DatabaseModule,
    OperationsModule,
    QueueModule,
    WhatsappModule,
    AuditModule,
    SecretsModule,
    RatesModule,
    WorkspacesModule,
    KeysModule,
    PeopleModule,
    HttpModule.with(AccessGuard, LateReads, WorkspaceReads, OperatorRepeats),
    BillingModule,
    ConnectionsModule,
    WebhookModule,
    DestinationsModule,
    MediaModule,
    ProfileModule,
    TemplatesModule,
    ConversationsModule,
    OptOutsModule,
    SendingModule,
    MessageStateModule,
    MessagesModule,
    TagsModule,
    OtpModule,
    InboundModule,
    SetupModule,
    UsageModule,
    McpModule,
    GraphModule,
  ],
})
export class AppModule {
  /** The application with these settings. */
  static with(config: Config): DynamicModule {
    return { module: AppModule, imports: [ConfigModule.of(config)] };
  }
}
