import { Global, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config.js';
import { platformUrl } from './api-root.js';
import { CloudApiClient } from './cloud-api-client.js';
import { MediaClient } from './media-client.js';

/** Closes the sockets to the platform after everything that uses them has stopped. */
@Injectable()
class ClientCloser implements OnApplicationShutdown {
  constructor(
    private readonly client: CloudApiClient,
    private readonly media: MediaClient,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.client.close(), this.media.close()]);
  }
}

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
    ClientCloser,
  ],
  exports: [CloudApiClient, MediaClient],
})
export class WhatsappModule {}

function addressOf({ whatsapp }: Config): { baseUrl: string; apiVersion: string } {
  return { baseUrl: platformUrl(whatsapp), apiVersion: whatsapp.apiVersion };
}
