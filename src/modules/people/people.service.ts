import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { PeopleRepository } from './people.repository.js';
import { SessionsService } from './sessions/sessions.service.js';

/** Who may do what in a workspace. */
@Injectable()
export class PeopleService {
  constructor(
    private readonly people: PeopleRepository,
    private readonly sessions: SessionsService,
    private readonly database: Database,
  ) {}

  /** Of a workspace that is being deleted. */
  removeAll(organizationId: string): Promise<void> {
    return this.database.transaction(async () => {
      for (const personId of await this.people.removeAll(organizationId)) await this.sessions.changed(personId);
    });
  }
}
