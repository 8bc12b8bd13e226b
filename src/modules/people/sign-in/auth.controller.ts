import { Controller, Delete, Get, HttpCode, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import type { Response } from 'express';
import { AppError } from '../../../common/app-error.js';
import { declaredErrors } from '../../../common/define-errors.js';
import { BodyAs, readBytes } from '../../../infrastructure/http/body.guard.js';
import type { HeraldRequest } from '../../../infrastructure/http/herald-request.js';
import { PublicUrl } from '../../../infrastructure/http/public-url.js';
import { Public, RequireSession } from '../../../infrastructure/http/route-policy.js';
import { CurrentPerson } from '../../keys/caller.decorator.js';
import type { SignedInPerson } from '../../keys/person-sessions.types.js';
import { peopleErrors, signInErrors } from '../people.errors.js';
import { cookieOf, removeCookie, SESSION_COOKIE, setCookie, SIGN_IN_COOKIE } from '../sessions/cookies.js';
import { SessionsService } from '../sessions/sessions.service.js';
import { Config } from '../../../infrastructure/config/config.js';
import { Issuers } from './issuers.service.js';
import { SignInService } from './sign-in.service.js';
import { type SignInUnderWay, readUnderWay, underWayText } from './sign-in-cookie.js';

/** How long a person may take at the issuer. */
const SIGN_IN_SECONDS = 600;
const MOST_LOGOUT_BYTES = 65_536;
const SECONDS_AN_HOUR = 3_600;

/** Signing in and out in a browser. No part of the API of messages: it is of use to the console only. */
@Controller('auth')
@ApiExcludeController()
export class AuthController {
  /** The sentences of a sign-in that failed, by code: the console gets a code in its address, and no text. */
  private readonly problems: Record<string, string>;

  constructor(
    private readonly issuers: Issuers,
    private readonly signIns: SignInService,
    private readonly sessions: SessionsService,
    private readonly publicUrl: PublicUrl,
    private readonly config: Config,
  ) {
    const told = declaredErrors().filter(({ code }) => code in signInErrors);
    this.problems = Object.fromEntries(told.map(({ code, message }) => [code, message]));
  }

  /** Where people can sign in. */
  @Get('issuers')
  @Public()
  list(@Req() req: HeraldRequest) {
    const data = this.issuers.names.map((name) => ({
      name,
      // At the public address, because the cookies of a sign-in belong to that host.
      sign_in_url: `${this.publicUrl.value}/auth/sign-in/${encodeURIComponent(name)}`,
    }));
    // Whether asking who is signed in makes sense: scripts cannot read the cookie.
    const has_session = data.length > 0 && cookieOf(req, SESSION_COOKIE) !== null;
    return { data, ...(data.length > 0 && { problems: this.problems, has_session }) };
  }

  /** Leads the browser to the issuer. */
  @Get('sign-in/:issuer')
  @Public()
  async begin(@Param('issuer') name: string, @Query('to') to: unknown, @Res() res: Response): Promise<void> {
    const issuer = this.issuers.get(name);
    const secrets = this.issuers.newSecrets();
    await this.orProblem(res, async () => {
      const address = await this.issuers.addressOf(issuer, secrets);
      setCookie(res, SIGN_IN_COOKIE, underWayText({ ...secrets, issuer: name, to: pageOf(to) }), SIGN_IN_SECONDS);
      res.redirect(303, address.href);
    });
  }

  /** Where the issuer sends the browser back. */
  @Get('callback/:issuer')
  @Public()
  async finish(@Param('issuer') name: string, @Req() req: HeraldRequest, @Res() res: Response): Promise<void> {
    const issuer = this.issuers.get(name);
    const underWay = readUnderWay(cookieOf(req, SIGN_IN_COOKIE));
    removeCookie(res, SIGN_IN_COOKIE);
    await this.orProblem(res, async () => {
      if (!isAnswerTo(underWay, name, req)) throw signInErrors.SIGN_IN_EXPIRED();
      const told = await this.issuers.claimsOf(issuer, queryOf(req), underWay);
      const token = await this.signIns.signIn(issuer, told, cookieOf(req, SESSION_COOKIE));
      setCookie(res, SESSION_COOKIE, token, this.config.people.sessionHours * SECONDS_AN_HOUR);
      res.redirect(303, `${this.publicUrl.value}${underWay.to}`);
    });
  }

  /** Who is signed in here, and what the person may choose from. */
  @Get('session')
  @RequireSession()
  async get(@CurrentPerson() person: SignedInPerson) {
    const workspaces = await this.sessions.workspaces(person);
    return {
      data: {
        person: { id: person.id, name: person.name, email: person.email, is_operator: person.isOperator },
        workspaces: workspaces.map(({ id, name, role }) => ({ id, name, role })),
        expires_at: person.expiresAt,
      },
    };
  }

  /** Signs out in this browser. */
  @Delete('session')
  @HttpCode(204)
  @RequireSession()
  async end(@CurrentPerson() person: SignedInPerson, @Res({ passthrough: true }) res: Response): Promise<void> {
    await this.sessions.end(person.id, person.sessionId);
    removeCookie(res, SESSION_COOKIE);
  }

  /** Signs out everywhere. */
  @Delete('sessions')
  @HttpCode(204)
  @RequireSession()
  async endAll(@CurrentPerson() person: SignedInPerson, @Res({ passthrough: true }) res: Response): Promise<void> {
    await this.sessions.end(person.id);
    removeCookie(res, SESSION_COOKIE);
  }

  /** Called by the issuer (OpenID Connect Back-Channel Logout). */
  @Post('logout/:issuer')
  @HttpCode(200)
  @Public()
  @BodyAs({ stream: true })
  async logout(@Param('issuer') name: string, @Req() req: HeraldRequest): Promise<void> {
    const issuer = this.issuers.get(name);
    const form = new URLSearchParams((await readBytes(req, MOST_LOGOUT_BYTES)).toString('utf8'));
    const token = form.get('logout_token');
    if (token === null) throw peopleErrors.LOGOUT_TOKEN_INVALID();
    const { subject, session } = await this.issuers.loggedOut(issuer, token);
    await this.sessions.endAtIssuer(issuer.issuer, subject, session);
  }

  /** A person who has a page open is shown the console with the sentence, not JSON. */
  private async orProblem(res: Response, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!(error instanceof AppError) || !(error.code in this.problems)) throw error;
      res.redirect(303, `${this.publicUrl.value}/console?problem=${error.code}`);
    }
  }
}

/** A page of the console; nothing else, or a link could lead anywhere after the sign-in. */
function pageOf(to: unknown): string {
  return typeof to === 'string' && /^\/console(\/[\w./:-]*)?$/.test(to) && !to.includes('//') ? to : '/console';
}

function queryOf({ originalUrl }: HeraldRequest): string {
  const at = originalUrl.indexOf('?');
  return at < 0 ? '' : originalUrl.slice(at);
}

/** The answer is one to the sign-in that this browser began, at this issuer. */
function isAnswerTo(underWay: SignInUnderWay | null, name: string, req: HeraldRequest): underWay is SignInUnderWay {
  return (
    underWay !== null && underWay.issuer === name && new URLSearchParams(queryOf(req)).get('state') === underWay.state
  );
}
