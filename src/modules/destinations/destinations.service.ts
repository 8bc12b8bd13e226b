import { Injectable } from '@nestjs/common';
import { invalidField } from '../../common/common.errors.js';
import { newId } from '../../common/ids.js';
import { EventJournal } from '../webhook/events/event-journal.service.js';
import { WebhookService } from '../webhook/webhook.service.js';
import { MESSAGE_EVENTS } from '../webhook/webhook.types.js';
import { DestinationBox } from './destination-secrets.js';
import { destinationsErrors } from './destinations.errors.js';
import { DestinationsRepository } from './destinations.repository.js';
import { DESTINATION_KINDS, type DestinationSecrets } from './destinations.types.js';
import {
  type ChangeDestinationRequest,
  type CreateDestinationRequest,
  DestinationData,
  type DestinationTestData,
} from './dto/destinations.dto.js';
import type { EventDestinationEntity } from './entities/event-destination.entity.js';
import { addressOf, type GivenSettings, splitSettings } from './given-settings.js';
import { DestinationsProcessor } from './runner/destinations.processor.js';
import { DestinationAddresses } from './sinks/destination-addresses.service.js';
import { connectionWord } from './sinks/sink.js';
import { Sinks } from './sinks/sinks.service.js';

const TEST_MS = 8_000;

/** A workspace's destinations of events. */
@Injectable()
export class DestinationsService {
  constructor(
    private readonly destinations: DestinationsRepository,
    private readonly journal: EventJournal,
    private readonly webhook: WebhookService,
    private readonly box: DestinationBox,
    private readonly addresses: DestinationAddresses,
    private readonly sinks: Sinks,
    private readonly processor: DestinationsProcessor,
  ) {}

  /** Oldest first. */
  async list(organizationId: string): Promise<DestinationData[]> {
    // In this order: an event that is written meanwhile is shown twice, rather than as neither waiting nor written.
    const waiting = await this.destinations.waiting(organizationId);
    const found = await this.destinations.list(organizationId);
    return found.map((each) => DestinationData.of(each, waiting.get(each.id) ?? { events: 0, since: null }));
  }

  /** @throws DESTINATION_NOT_FOUND (404). */
  async get(organizationId: string, id: string): Promise<DestinationData> {
    const found = (await this.list(organizationId)).find((each) => each.id === id);
    if (found === undefined) throw destinationsErrors.DESTINATION_NOT_FOUND();
    return found;
  }

  /**
   * Creates a destination, which gets the events from now on.
   *
   * @throws INVALID_REQUEST (400), DESTINATION_ADDRESS_NOT_ALLOWED (400), DESTINATION_CONNECTION_NOT_FOUND (404),
   * DESTINATION_NAME_TAKEN (409), DESTINATION_LIMIT_REACHED (409), RATE_LIMITED (429).
   */
  async create(organizationId: string, body: CreateDestinationRequest): Promise<DestinationData> {
    const { name, events = [...MESSAGE_EVENTS], connection_ids: numbers = [], active = true } = body;
    const [kind, ...others] = DESTINATION_KINDS.filter((each) => body[each] !== undefined);
    if (kind === undefined || others.length > 0) {
      throw invalidField(kind ?? 'nats', 'one_of', 'Send exactly one of nats, rabbitmq and sqs.');
    }
    const { settings, secrets } = splitSettings(kind, { ...body[kind] }, {});
    await this.addresses.check(addressOf(kind, settings));
    const connectionIds = await this.numbersOf(organizationId, numbers);
    const id = newId();
    const sealed = { secretNames: Object.keys(secrets), secretsCiphertext: this.box.seal(organizationId, id, secrets) };
    const row = {
      id,
      organizationId,
      name,
      kind,
      settings,
      ...sealed,
      events: [...new Set(events)],
      connectionIds,
      active,
    };
    await this.destinations.create(row, () => this.journal.record(organizationId));
    return this.get(organizationId, id);
  }

  /** Changes the given fields. @throws the same as `create`, DESTINATION_NOT_FOUND (404). */
  async change(organizationId: string, id: string, body: ChangeDestinationRequest): Promise<DestinationData> {
    const known = await this.getById(organizationId, id);
    const other = DESTINATION_KINDS.find((each) => each !== known.kind && body[each] !== undefined);
    if (other !== undefined) {
      throw invalidField(
        other,
        'kind',
        `This destination is of kind ${known.kind}, which cannot change; make another one.`,
      );
    }
    const { [known.kind]: chosen } = body;
    const given: GivenSettings | undefined = chosen && { ...chosen };
    const connection = given === undefined ? {} : await this.connectionOf(known, given);
    const numbers = body.connection_ids;
    const changes = {
      ...(body.name !== undefined && { name: body.name }),
      ...(body.events !== undefined && { events: [...new Set(body.events)] }),
      ...(numbers !== undefined && { connectionIds: await this.numbersOf(organizationId, numbers) }),
      ...(body.active !== undefined && { active: body.active }),
      ...connection,
    };
    if (Object.keys(changes).length > 0) {
      await this.destinations.update(known, changes, given !== undefined);
      this.processor.wakeDestination(id);
    }
    return this.get(organizationId, id);
  }

  /** @throws DESTINATION_NOT_FOUND (404), RATE_LIMITED (429). */
  setActive(organizationId: string, id: string, active: boolean): Promise<DestinationData> {
    return this.change(organizationId, id, { active });
  }

  /** @throws DESTINATION_NOT_FOUND (404). */
  async remove(organizationId: string, id: string): Promise<void> {
    if (!(await this.destinations.remove(organizationId, id))) throw destinationsErrors.DESTINATION_NOT_FOUND();
    // The days without a reader start now.
    await this.journal.record(organizationId);
  }

  /** Deletes all destinations of the workspace. */
  async removeAll(organizationId: string): Promise<void> {
    for (const { id } of await this.destinations.list(organizationId))
      await this.destinations.remove(organizationId, id);
  }

  /** Goes back to a time. @throws DESTINATION_NOT_FOUND (404), RATE_LIMITED (429). */
  async replay(organizationId: string, id: string, since: Date): Promise<DestinationData> {
    const known = await this.getById(organizationId, id);
    const place = await this.journal.placeBefore(organizationId, since);
    if (place !== null) {
      await this.destinations.rewind(known, place);
      this.processor.wakeDestination(id);
    }
    return this.get(organizationId, id);
  }

  /** Writes one test event over a separate connection, in any state of the destination. */
  async test(organizationId: string, id: string): Promise<DestinationTestData> {
    const known = await this.getById(organizationId, id);
    const { kind, settings } = known;
    const event = await this.journal.testEvent(organizationId);
    const error = await this.writeTest({ id, organizationId, kind, settings }, { ...event, organizationId });
    return { written: error === null, error, event_id: event.id };
  }

  private async writeTest(
    to: Omit<Parameters<Sinks['open']>[0], 'secrets'>,
    event: Parameters<Awaited<ReturnType<Sinks['open']>>['write']>[0][number],
  ): Promise<string | null> {
    let secrets: DestinationSecrets;
    try {
      secrets = this.box.open(to.organizationId, to.id, await this.destinations.secretsOf(to.organizationId, to.id));
    } catch {
      return 'secret_unreadable';
    }
    try {
      const sink = await this.sinks.open({ ...to, secrets });
      const [outcome] = await sink.write([event], TEST_MS);
      await sink.close();
      return outcome?.word ?? null;
    } catch (error) {
      return connectionWord(error);
    }
  }

  private async connectionOf(known: EventDestinationEntity, given: GivenSettings) {
    const { id, organizationId, kind } = known;
    const next = addressOf(kind, splitSettings(kind, given, {}, false).settings);
    const before = addressOf(kind, known.settings);
    // Secrets are never shown, so a caller who may set the address must not be able to redirect them.
    const stays = next.host === before.host && next.port === before.port && next.secure === before.secure;
    const kept = stays ? this.box.open(organizationId, id, await this.destinations.secretsOf(organizationId, id)) : {};
    const { settings, secrets } = splitSettings(kind, given, kept);
    await this.addresses.check(next);
    return {
      settings,
      secretNames: Object.keys(secrets),
      secretsCiphertext: this.box.seal(organizationId, id, secrets),
    };
  }

  private async getById(organizationId: string, id: string): Promise<EventDestinationEntity> {
    const found = await this.destinations.find(organizationId, id);
    if (found === null) throw destinationsErrors.DESTINATION_NOT_FOUND();
    return found;
  }

  private async numbersOf(organizationId: string, given: readonly string[]): Promise<string[]> {
    const ids = given.map((id) => id.toLowerCase());
    const details = await this.webhook.unknownConnections(organizationId, ids);
    if (details.length > 0) throw destinationsErrors.DESTINATION_CONNECTION_NOT_FOUND({ details });
    return [...new Set(ids)];
  }
}
