import type { Request } from 'express';
import { GraphError } from '../graph-error.js';
import { parametersOf } from '../http/parameters.js';
import { pageOf, pathId, type Route } from '../http/route.js';
import type { InboundLog } from '../messages/inbound-log.js';
import { checkProduct, Param } from '../messages/param.js';
import { isNamedByUserId, partyOf, type People, type Recipient } from '../people.js';
import type { Table } from '../store.js';

const MOST_AT_ONCE = 1_000;

interface BlockedUser {
  phoneNumberId: string;
  /** The number, or the user id where only that was given. */
  party: string;
}

interface Failure {
  input: string;
  wa_id?: string;
  errors: { message: string; code: number; error_data: { details: string } }[];
}

/** Whom each number has blocked: they can't be written to, and can't write. */
export class Blocklist {
  constructor(
    private readonly blocked: Table<BlockedUser>,
    private readonly people: People,
    private readonly inboundLog: InboundLog,
  ) {}

  /** @throws GraphError 130403 for a customer whom the number has blocked */
  check(phoneNumberId: string, { to, waId }: Pick<Recipient, 'to' | 'waId'>): void {
    if (this.blocked.size === 0 || !this.has(phoneNumberId, waId ?? to)) return;
    throw new GraphError(130403, { details: 'This business has blocked the recipient' });
  }

  has(phoneNumberId: string, party: string): boolean {
    return this.namesOf(party).some((each) => this.blocked.has(`${phoneNumberId} ${each}`));
  }

  clear(): void {
    this.blocked.clear();
  }

  routes(): Route[] {
    return [
      ['GET', '/:phone_number/block_users', (request) => this.list(request)],
      ['POST', '/:phone_number/block_users', (request) => this.change(request, true)],
      ['DELETE', '/:phone_number/block_users', (request) => this.change(request, false)],
    ];
  }

  private list(request: Request): object {
    const phoneNumberId = pathId(request, 'phone_number');
    const all = [...this.blocked.values()].filter((user) => user.phoneNumberId === phoneNumberId);
    const page = pageOf(all, ({ party }) => party, request);
    return { ...page, data: page.data.map(({ party }) => ({ messaging_product: 'whatsapp', ...identityOf(party) })) };
  }

  private change(request: Request, wanted: boolean): object {
    const body = parametersOf(request);
    checkProduct(body);
    const phoneNumberId = pathId(request, 'phone_number');
    const changed: object[] = [];
    const failed: Failure[] = [];
    for (const user of Param.body(body).objects('block_users', 1, MOST_AT_ONCE)) {
      const input = user.get('user').isGiven ? user.text('user', 200) : user.text('user_id', 200);
      const party = partyOf(input);
      const failure = wanted ? this.reasonAgainst(phoneNumberId, party) : null;
      if (failure !== null) failed.push({ input, ...identityOf(party), errors: [failure] });
      else {
        if (wanted) this.blocked.set(`${phoneNumberId} ${party}`, { phoneNumberId, party });
        else this.blocked.delete(`${phoneNumberId} ${party}`);
        changed.push({ input, ...identityOf(party) });
      }
    }
    const users = { [wanted ? 'added_users' : 'removed_users']: changed };
    const answer = { messaging_product: 'whatsapp', block_users: users };
    if (failed.length === 0) return answer;
    throw new GraphError(139100, {
      details: 'Failed to block some users, see the block_users response list for details',
      beside: { ...answer, block_users: { ...users, failed_users: failed } },
    });
  }

  /** Only who wrote within the last 24 hours can be blocked. */
  private reasonAgainst(phoneNumberId: string, party: string): Failure['errors'][number] | null {
    if (this.inboundLog.windowIsOpen(phoneNumberId, this.namesOf(party), Date.now())) return null;
    const details = 'The user has not written to this number in the last 24 hours';
    return { message: 'Re-engagement required', code: 131047, error_data: { details } };
  }

  /** A number stands for its owner's user id as well. */
  private namesOf(party: string): string[] {
    return isNamedByUserId(party) ? [party] : [party, this.people.userIdOf(party)];
  }
}

function identityOf(party: string): { wa_id: string } | { user_id: string } {
  return isNamedByUserId(party) ? { user_id: party } : { wa_id: party };
}
