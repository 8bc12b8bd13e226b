import { Injectable } from '@nestjs/common';
import { Config } from '../../../infrastructure/config/config.js';
import { Addresses, type FoundAddresses } from '../../webhook/address/addresses.service.js';
import { destinationsErrors } from '../destinations.errors.js';
import { SinkError } from './sink.js';

export interface HostAndPort {
  /** Lower-case; an IPv6 address in brackets. */
  host: string;
  port: number;
}

const LOOKUP_MS = 4_000;

const MESSAGES: Readonly<Record<string, string>> = {
  ip_literal: 'Use a host name in place of an IP address, or have the operator name host and port.',
  malformed: 'The host is not a name that can exist in the domain name system.',
  private_address:
    'Every address of the host must be public, unless the operator names host and port in EVENT_DESTINATION_HOSTS.',
  unresolvable: 'The host has no address; check the name and its A and AAAA records.',
  too_many_addresses: 'The host has more addresses than a broker would; use another name.',
};

/** Where destinations may connect: public addresses, and the hosts and ports that the operator allows. */
@Injectable()
export class DestinationAddresses {
  private readonly named: ReadonlySet<string>;

  constructor(
    private readonly addresses: Addresses,
    config: Config,
  ) {
    this.named = new Set(config.destinations.hosts);
  }

  /**
   * Checks an address before it is stored; each connection checks again.
   *
   * @throws DESTINATION_ADDRESS_NOT_ALLOWED (400).
   */
  async check(place: HostAndPort): Promise<void> {
    const found = await this.find(place);
    // A temporary failure of name servers is no reason to refuse: no connection is made without an answer.
    if (found.ok || found.failure === 'dns_timeout' || found.failure === 'dns_failed') return;
    const message = MESSAGES[found.failure] ?? 'The host cannot be used.';
    throw destinationsErrors.DESTINATION_ADDRESS_NOT_ALLOWED({ reason: found.failure, message });
  }

  /**
   * An address of the host to connect to, instead of the name, so that a name server cannot answer differently a moment
   * later.
   */
  async addressOf(place: HostAndPort): Promise<string> {
    const found = await this.find(place);
    if (!found.ok) throw new SinkError(found.failure);
    const address = found.addresses.find((each) => !each.includes(':')) ?? found.addresses[0];
    if (address === undefined) throw new SinkError('unresolvable');
    return address;
  }

  private find({ host, port }: HostAndPort): Promise<FoundAddresses> {
    const isNamed = this.named.has(`${host}:${port}`);
    return isNamed ? this.addresses.findAny(host, LOOKUP_MS) : this.addresses.findPublic(host, LOOKUP_MS);
  }
}
