import { Injectable } from '@nestjs/common';
import type { Connecting, DestinationKind } from '../destinations.types.js';
import { DestinationAddresses } from './destination-addresses.service.js';
import { openNats } from './nats.sink.js';
import { openRabbitmq } from './rabbitmq.sink.js';
import type { Sink } from './sink.js';
import { openSqs } from './sqs.sink.js';

/** The client of a kind is loaded at the first connection of that kind. */
const KINDS: Readonly<Record<DestinationKind, (to: Connecting, addresses: DestinationAddresses) => Promise<Sink>>> = {
  nats: openNats,
  rabbitmq: openRabbitmq,
  sqs: openSqs,
};

/** Opens connections of every kind. */
@Injectable()
export class Sinks {
  constructor(private readonly addresses: DestinationAddresses) {}

  /** @throws SinkError */
  open(to: Connecting): Promise<Sink> {
    return KINDS[to.kind](to, this.addresses);
  }
}
