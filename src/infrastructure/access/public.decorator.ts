import { SetMetadata } from '@nestjs/common';

export const PUBLIC_ROUTE = 'herald:public';

/** A route that needs no key: health, links that carry their own proof, what the platform calls. */
export function Public(): MethodDecorator & ClassDecorator {
  return SetMetadata(PUBLIC_ROUTE, true);
}
