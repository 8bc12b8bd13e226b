import { factsOf } from '../support/facts.js';
import { enterContactObservations } from '../../src/modules/conversations/conversations.repository.js';
import {
  findNewMessages,
  storeMessages,
  type ReceivedMessage,
} from '../../src/modules/messages/reports/received-messages.repository.js';
import type { InboundReport, StatusReport } from '../../src/modules/message-state/message.types.js';
import {
  applyStatusReports,
  type AppliedReport,
} from '../../src/modules/messages/reports/status-reports.repository.js';
import type { MediaService } from '../../src/modules/media/media.service.js';
import type { Database } from '../../src/infrastructure/database/database.js';
import { GroupCommit } from '../../src/infrastructure/database/group-commit.js';

/** Status reports by themselves, many in one transaction, as notifications apply them. */
export class StatusBatches {
  private readonly batches: GroupCommit<StatusReport, AppliedReport | null>;

  constructor(database: Database) {
    this.batches = new GroupCommit(database, {
      name: 'status report',
      careful: true,
      commit: (reports, statements) => applyStatusReports(reports, statements, factsOf(database)),
    });
  }

  apply(report: StatusReport): Promise<AppliedReport | null> {
    return this.batches.submit(report);
  }
}

/** As `StatusBatches`, for customers' messages. */
export class InboundBatches {
  private readonly batches: GroupCommit<InboundReport, ReceivedMessage>;

  constructor(database: Database, media: MediaService) {
    this.batches = new GroupCommit(database, {
      name: 'inbound',
      careful: true,
      commit: async (reports, statements) => {
        const found = await findNewMessages(reports, statements);
        const { ids } = await enterContactObservations(found.authors, statements);
        return storeMessages(found, ids, statements, media);
      },
    });
  }

  receive(report: InboundReport): Promise<ReceivedMessage> {
    return this.batches.submit(report);
  }
}
