import { Global, Module } from '@nestjs/common';
import { Config } from '../config/config.js';
import { platformUrl } from './connect-options.js';
import { CloudApiClient } from './cloud-api-client.js';
import { MediaClient } from './media-client.js';

/** The Cloud API clients of this process. */
@Global()
@Module({
  providers: [
    {
      provide: CloudApiClient,
      inject: [Config],
      useFactory: (config: Config) =>
        new CloudApiClient({
          ...addressOf(config),
          headersTimeoutMs: config.whatsapp.timeoutMs,
          connections: config.queue.maxInFlight,
        }),
    },
    {
      provide: MediaClient,
      inject: [Config, CloudApiClient],
      useFactory: (config: Config, calls: CloudApiClient) => new MediaClient(addressOf(config), calls),
    },
  ],
  exports: [CloudApiClient, MediaClient],
})
export class WhatsappModule {}

function addressOf({ whatsapp }: Config): { baseUrl: string; apiVersion: string } {
  return { baseUrl: platformUrl(whatsapp), apiVersion: whatsapp.apiVersion };
}
