import { newId } from '../../src/common/ids.js';
import { LaneOwner } from '../../src/infrastructure/queue/lane-owner.js';
import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';
import { signBody } from '../../src/infrastructure/whatsapp/webhook-signature.js';
import { MessagesMaintenanceRepository } from '../../src/modules/messages/maintenance/messages-maintenance.repository.js';
import { ClaimRepository, type ClaimedMessage } from '../../src/modules/sending/claim/claim.repository.js';
import { Erasure } from '../../src/modules/workspaces/erasure/erasure.service.js';
import { acceptedOutcome } from '../../test/support/accepted-outcome.js';
import { claimLane, claimRequest } from '../../test/support/claim-request.js';
import { factsOf } from '../../test/support/facts.js';
import { writeLives } from '../../test/support/rig/erased-person.js';
import type { FilledWorld } from '../../test/support/rig/filled-world.js';
import { ReadMeter } from '../../test/support/rig/read-meter.js';
import { recipientNumber } from '../../test/support/rig/recipients.js';
import { conversationId, MESSAGES_EACH } from '../../test/support/rig/seed-journal.js';
import type { TestApp } from '../../test/support/test-app.js';

export interface WriteCost {
  pages: number;
  /** Bytes of the write-ahead log. */
  wal: number;
  ms: number;
}

/** Of one message, one content that is removed, or one person who is erased. */
export type WriteCosts = Map<string, WriteCost>;

/** Messages of one round, which a worker claims at once. */
const BATCH = 64;
const ROUNDS = 5;
const REMOVED = 1_000;
/** Of a person who is erased, each way. */
const OF_PERSON = 15;

/** What the life of a message, its removal and an erasure read and write; the cheapest of some rounds. */
export class WriteMeter {
  private readonly pages: ReadMeter;
  private readonly wal: ReadMeter;
  private readonly claims: ClaimRepository;
  private readonly maintenance: MessagesMaintenanceRepository;
  private readonly owner: LaneOwner;
  private round = 0;

  constructor(
    private readonly test: TestApp,
    private readonly world: FilledWorld,
    private readonly messages: number,
  ) {
    const { database } = test;
    this.pages = new ReadMeter(test, 'pages');
    this.wal = new ReadMeter(test, 'wal');
    this.claims = new ClaimRepository(database);
    this.maintenance = new MessagesMaintenanceRepository(database, factsOf(database));
    this.owner = new LaneOwner(database);
  }

  async measure(): Promise<WriteCosts> {
    const costs: WriteCosts = new Map();
    await this.prepare();
    // The first one fills caches of the process.
    await this.life();
    for (let n = 0; n < ROUNDS; n++) {
      for (const round of [await this.life(), await this.removal(), await this.erasure()]) {
        for (const [name, cost] of round) costs.set(name, least(cost, costs.get(name)));
      }
    }
    return costs;
  }

  async close(): Promise<void> {
    await this.owner.onApplicationShutdown();
    await Promise.all([this.pages.close(), this.wal.close()]);
  }

  private async prepare(): Promise<void> {
    await this.owner.start();
    await new LaneRepository(this.test.database).ensure(this.world.filled.own.id);
    const contacts = Array.from({ length: BATCH * (ROUNDS + 2) }, (_, n) => conversationId(this.contact(n)));
    const open = 'update conversation set last_inbound_at = now() where id = any($1::uuid[])';
    await this.test.database.execute(open, [contacts]);
  }

  /** Contacts who lie far from each other, and for whom nothing waits. */
  private contact(n: number): number {
    const hundreds = this.messages / MESSAGES_EACH / 100;
    return ((n * 7_919) % hundreds) * 100 + 20 + 2 * Math.floor(n / hundreds);
  }

  private async life(): Promise<WriteCosts> {
    const { own } = this.world.filled;
    const first = this.round++ * BATCH;
    const contacts = Array.from({ length: BATCH }, (_, n) => recipientNumber(this.contact(first + n)));
    const costs: WriteCosts = new Map();
    const cost = async (name: string, work: () => Promise<unknown>): Promise<void> => {
      costs.set(name, await this.costOf(BATCH, work));
    };
    const api = this.test.api.as(this.world.key);
    await cost('accept', async () => {
      for (const contact of contacts) {
        const text = { body: 'Hello, your order 4711 is on its way.' };
        const body = { connection_id: own.id, to: `+${contact}`, type: 'text', text };
        const { status, body: answer } = await api.post('/messages', body, { headers: { 'idempotency-key': newId() } });
        if (status !== 202) throw new Error(`POST /messages: ${status} ${JSON.stringify(answer)}`);
      }
    });
    let claimed: ClaimedMessage[] = [];
    await cost('claim', async () => {
      const request = claimRequest(own.id, this.owner.id, BATCH);
      claimed = (await claimLane(this.claims, request, { leaseMs: 60_000 })).items;
    });
    if (claimed.length !== BATCH) throw new Error(`${claimed.length} messages were claimed`);
    await cost('outcome', () => {
      const facts = claimed.map((message) => ({ kind: 'answer', ...acceptedOutcome(message) }) as const);
      return factsOf(this.test.database).applyNow(facts);
    });
    for (const status of ['sent', 'delivered', 'read']) {
      await cost(`report: ${status}`, () => this.notify({ statuses: claimed.map((each) => reported(each, status)) }));
    }
    await cost(RECEIVED, () => this.notify({ messages: contacts.map(written) }));
    return costs;
  }

  private async removal(): Promise<WriteCosts> {
    // Half of the journal is old enough.
    const before = new Date(Date.now() - (this.messages / 2) * 1_000);
    let removed = 0;
    const cost = await this.costOf(REMOVED, async () => {
      removed = await this.maintenance.remove('contents', before, REMOVED);
    });
    if (removed !== REMOVED) throw new Error(`${removed} contents were removed`);
    return new Map([['retention of a content', cost]]);
  }

  private async erasure(): Promise<WriteCosts> {
    const { own, otpProject: projectId } = this.world.filled;
    const { organizationId, id: connectionId } = own;
    const { database } = this.test;
    const phone = `155500088${String(this.round).padStart(2, '0')}`;
    await writeLives({ database, organizationId, connectionId, projectId }, OF_PERSON, `'${phone}'::text`);
    const erasure = this.test.app.get(Erasure);
    const counted = await this.costOf(1, () => erasure.count(organizationId, phone));
    const erased = await this.costOf(1, () => erasure.erase(organizationId, phone));
    return new Map([
      ['data erase of a person, counted', counted],
      ['data erase of a person', erased],
    ]);
  }

  /** One notification with them all. */
  private async notify(items: object): Promise<void> {
    const { phoneNumber, phoneNumberId, wabaId } = this.world.filled.own;
    const metadata = { display_phone_number: phoneNumber, phone_number_id: phoneNumberId };
    const value = { messaging_product: 'whatsapp', metadata, ...items };
    const entry = [{ id: wabaId, changes: [{ field: 'messages', value }] }];
    const body = JSON.stringify({ object: 'whatsapp_business_account', entry });
    const signature = signBody(Buffer.from(body), this.test.config.whatsapp.appSecrets[0] ?? '');
    const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature };
    const { status } = await this.test.api.post('/platform/whatsapp/webhook', body, { headers });
    if (status !== 200) throw new Error(`a notification was answered ${status}`);
  }

  private async costOf(units: number, work: () => Promise<unknown>): Promise<WriteCost> {
    let [wal, ms] = [0, 0];
    const pages = await this.pages.measure(Infinity, async () => {
      wal = await this.wal.measure(Infinity, async () => {
        const startedAt = performance.now();
        await work();
        ms = performance.now() - startedAt;
      });
    });
    return { pages: pages / units, wal: wal / units, ms: ms / units };
  }
}

const RECEIVED = 'received message';

const secondsNow = (): string => String(Math.floor(Date.now() / 1_000));

function reported({ id, attemptId, recipient }: ClaimedMessage, status: string): object {
  const callback = `${id}.${attemptId}`;
  return {
    id: `wamid.${attemptId}`,
    status,
    timestamp: secondsNow(),
    recipient_id: recipient,
    biz_opaque_callback_data: callback,
  };
}

function written(from: string): object {
  const id = `wamid.${from}.${performance.now()}`;
  return { from, id, timestamp: secondsNow(), type: 'text', text: { body: 'And where is it now?' } };
}

function least(a: WriteCost, b: WriteCost = a): WriteCost {
  return { pages: Math.min(a.pages, b.pages), wal: Math.min(a.wal, b.wal), ms: Math.min(a.ms, b.ms) };
}
