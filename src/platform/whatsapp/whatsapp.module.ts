import { Global, Injectable, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Config } from '../config/config.js';
import { CloudApiClient } from './cloud-api-client.js';

/** Closes the sockets to the platform after everything that uses them has stopped. */
@Injectable()
class ClientCloser implements OnApplicationShutdown {
  constructor(private readonly client: CloudApiClient) {}

  async onApplicationShutdown(): Promise<void> {
    await this.client.close();
  }
}

/** The Cloud API client of this process. */
@Global()
@Module({
  providers: [
    {
      provide: CloudApiClient,
      inject: [Config],
      useFactory: (config: Config) =>
        new CloudApiClient({
          baseUrl: config.whatsapp.apiUrl ?? `http://127.0.0.1:${config.whatsapp.simulatorPort}`,
          apiVersion: config.whatsapp.apiVersion,
          headersTimeoutMs: config.whatsapp.timeoutMs,
          connections: config.queue.maxInFlight,
        }),
    },
    ClientCloser,
  ],
  exports: [CloudApiClient],
})
export class WhatsappModule {}
