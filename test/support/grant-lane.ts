import type { Database } from '../../src/infrastructure/database/database.js';
import {
  GRANT_COLUMNS,
  grantOf,
  grantParams,
  laneGrants,
  type ClaimRequest,
  type Grant,
  type GrantRow,
} from '../../src/infrastructure/queue/lane-grant.js';
import { LaneOwner } from '../../src/infrastructure/queue/lane-owner.js';
import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';

const owners: LaneOwner[] = [];
afterAll(() => Promise.all(owners.splice(0).map((owner) => owner.onApplicationShutdown())));

/** A process that works, until the end of the file. */
export async function livingOwner(database: Database): Promise<LaneOwner> {
  const owner = new LaneOwner(database);
  owners.push(owner);
  await owner.start();
  return owner;
}

/** The grant alone, without a claim; the lane's row is made where there is none. */
export async function grantLane(database: Database, request: ClaimRequest): Promise<Grant | null> {
  await new LaneRepository(database).ensure(request.laneKey);
  const sql = `with ${laneGrants()} select ${GRANT_COLUMNS} from lane_grant`;
  return grantOf((await database.query<GrantRow>(sql, grantParams([request])))[0]);
}
