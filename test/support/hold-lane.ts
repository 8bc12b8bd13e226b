import type { Database } from '../../src/infrastructure/database/database.js';
import {
  HOLD_COLUMNS,
  holdOf,
  holdParams,
  laneHold,
  type Hold,
  type HoldRequest,
  type HoldRow,
} from '../../src/infrastructure/queue/lane-hold.js';
import { LaneRepository } from '../../src/infrastructure/queue/lane.repository.js';

/** The hold alone, without a claim; the lane's row is made where there is none. */
export async function holdLane(database: Database, request: HoldRequest): Promise<Hold | null> {
  await new LaneRepository(database).ensure(request.laneKey);
  const sql = `with ${laneHold()} select ${HOLD_COLUMNS} from hold`;
  return holdOf((await database.query<HoldRow>(sql, holdParams(request)))[0]);
}
