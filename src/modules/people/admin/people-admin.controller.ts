import { Delete, Get, HttpCode, Query } from '@nestjs/common';
import { ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { ApiErrors } from '../../../infrastructure/http/api-description.js';
import { AdminController } from '../../../infrastructure/http/operator.decorator.js';
import { cursorOf } from '../../../infrastructure/http/page.query.js';
import { pageOf } from '../../../infrastructure/http/pagination.response.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { addressOf } from '../email-address.js';
import { PeopleService } from '../people.service.js';
import { SessionsService } from '../sessions/sessions.service.js';
import {
  ListPeopleQuery,
  PersonListResponse,
  PersonResponse,
  SessionOfPersonResponse,
  SinglePersonResponse,
} from './people-admin.dto.js';
import { PersonId } from './person-id.decorator.js';

@ApiTags('People')
@AdminController('people')
export class PeopleAdminController {
  constructor(
    private readonly people: PeopleService,
    private readonly sessions: SessionsService,
  ) {}

  /**
   * List people
   *
   * @remarks Everybody who signed in and was let in, newest first, operators too. For the next page pass `next_before` and
   * `next_before_id` of the answer as `before` and `before_id`.
   */
  @Get()
  @RequireOperatorScope('people:read', { wholeInstallation: true })
  @ApiOkResponse({ type: PersonListResponse, description: 'One page.' })
  async list(@Query() query: ListPeopleQuery): Promise<PersonListResponse> {
    const { limit, email } = query;
    const filter = { ...cursorOf(query), limit: limit + 1, email: email === undefined ? email : addressOf(email) };
    const { rows, pagination } = pageOf(await this.people.page(filter), limit, ({ createdAt }) => createdAt);
    return { data: rows.map((person) => PersonResponse.of(person)), pagination };
  }

  /**
   * Get a person
   *
   * @remarks With the workspaces in which the person is a member, and the browsers in which the person is signed in.
   */
  @Get(':id')
  @RequireOperatorScope('people:read', { wholeInstallation: true })
  @ApiOkResponse({ type: SinglePersonResponse, description: 'The person.' })
  @ApiErrors('PERSON_NOT_FOUND')
  async get(@PersonId() id: string): Promise<SinglePersonResponse> {
    const person = await this.people.getById(id);
    const workspaces = await this.sessions.workspaces({ id, isOperator: person.isOperator });
    const sessions = await this.sessions.list(id);
    return {
      data: {
        ...PersonResponse.of(person),
        workspaces: workspaces.map((each) => ({ id: each.id, name: each.name, role: each.role })),
        sessions: sessions.map((each) => SessionOfPersonResponse.of(each)),
      },
    };
  }

  /**
   * Sign a person out everywhere
   *
   * @remarks Ends all sessions of the person; every process refuses them within five seconds, mostly at once. At the issuer the person
   * stays signed in, and can sign in again: take the person out of the groups there first.
   */
  @Delete(':id/sessions')
  @HttpCode(204)
  @RequireOperatorScope('people:write', { wholeInstallation: true })
  @ApiNoContentResponse({ description: 'The person has no session any more.' })
  @ApiErrors('PERSON_NOT_FOUND')
  async endSessions(@PersonId() id: string): Promise<void> {
    await this.people.getById(id);
    await this.sessions.end(id);
  }
}
