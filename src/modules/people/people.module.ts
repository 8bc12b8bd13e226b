import { Global, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { PersonSessions } from '../keys/person-sessions.types.js';
import { WorkspaceErasure } from '../workspaces/erasure/workspace-erasure.service.js';
import { PeopleAdminController } from './admin/people-admin.controller.js';
import { InvitationsAdminController } from './admin/invitations-admin.controller.js';
import { MembersAdminController } from './admin/members-admin.controller.js';
import { InvitationEntity } from './entities/invitation.entity.js';
import { MembershipEntity } from './entities/membership.entity.js';
import { PersonSessionEntity } from './entities/person-session.entity.js';
import { PersonEntity } from './entities/person.entity.js';
import { InvitationsRepository } from './invitations/invitations.repository.js';
import { InvitationsService } from './invitations/invitations.service.js';
import { MembersController } from './members.controller.js';
import { PeopleRepository } from './people.repository.js';
import { PeopleService } from './people.service.js';
import { SessionsRepository } from './sessions/sessions.repository.js';
import { SessionsService } from './sessions/sessions.service.js';
import { AuthController } from './sign-in/auth.controller.js';
import { GrantsRepository } from './sign-in/grants.repository.js';
import { GrantsService } from './sign-in/grants.service.js';
import { Issuers } from './sign-in/issuers.service.js';
import { SessionChecks } from './sign-in/session-checks.service.js';
import { SignInService } from './sign-in/sign-in.service.js';

/** People: their identity at an issuer, their browser sessions, and their roles in workspaces. */
@Global()
@Module({
  imports: [TypeOrmModule.forFeature([PersonEntity, MembershipEntity, PersonSessionEntity, InvitationEntity])],
  controllers: [
    AuthController,
    MembersController,
    PeopleAdminController,
    MembersAdminController,
    InvitationsAdminController,
  ],
  providers: [
    PeopleRepository,
    PeopleService,
    InvitationsRepository,
    InvitationsService,
    SessionsRepository,
    SessionsService,
    { provide: PersonSessions, useExisting: SessionsService },
    GrantsRepository,
    GrantsService,
    Issuers,
    SessionChecks,
    SignInService,
  ],
  exports: [PersonSessions, PeopleService],
})
export class PeopleModule {
  constructor(people: PeopleService, erasure: WorkspaceErasure) {
    erasure.add({ stop: (organizationId) => people.removeAll(organizationId) });
  }
}
