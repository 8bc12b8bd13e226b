import { Body, Get, Param, Post, Put } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { isSupportedCountry } from 'libphonenumber-js/max';
import { invalidField } from '../../../common/common.errors.js';
import { ApiErrors, ApiErrorsAs } from '../../../infrastructure/http/api-description.js';
import { AdminController, Repeatable } from '../../../infrastructure/http/operator.decorator.js';
import { RequireOperatorScope } from '../../../infrastructure/http/route-policy.js';
import { UuidParam } from '../../../infrastructure/http/uuid-param.decorator.js';
import { OtpPackagesService } from '../../billing/otp-packages.service.js';
import { WorkspaceParam } from '../../workspaces/workspace-param.decorator.js';
import type { Workspace } from '../../workspaces/workspaces.service.js';
import { otpErrors } from '../otp.errors.js';
import { OtpProjectsService } from '../otp-projects.service.js';
import { OtpSenderService } from '../otp-sender.service.js';
import type { OtpProject } from '../otp.types.js';
import {
  CreateOtpProjectRequest,
  EXAMPLE_PROJECT_ID,
  OtpPackagesData,
  OtpPackagesResponse,
  OtpProjectListResponse,
  OtpProjectResponse,
  OtpSenderData,
  OtpSenderResponse,
  SetOtpPackageRequest,
  SetOtpSenderRequest,
  SingleOtpProjectResponse,
} from './otp-admin.dto.js';

const ProjectId = (): ParameterDecorator =>
  UuidParam('id', {
    malformed: otpErrors.OTP_PROJECT_NOT_FOUND,
    description: 'Id of the project, from the list.',
    example: EXAMPLE_PROJECT_ID,
  });

@ApiTags('Codes')
@AdminController('workspaces/:workspace_id/otp-projects')
export class OtpProjectsAdminController {
  constructor(
    private readonly projects: OtpProjectsService,
    private readonly packages: OtpPackagesService,
  ) {}

  /**
   * List OTP projects
   *
   * @remarks The applications of the workspace that send one-time codes. Their keys are made with POST /workspaces/{workspace_id}/keys
   * and `otp_project_id`.
   */
  @Get()
  @RequireOperatorScope('otp:read')
  @ApiOkResponse({ type: OtpProjectListResponse, description: 'All of them, oldest first; there are no pages.' })
  async list(@WorkspaceParam() workspace: Workspace): Promise<OtpProjectListResponse> {
    const projects = await this.projects.list(workspace.id);
    return { data: projects.map((project) => OtpProjectResponse.of(project)) };
  }

  /**
   * Make an OTP project
   *
   * @remarks A `sandbox` sends nothing and answers with the code; its keys begin with `hrld_test_`. A `live` project needs packages for the
   * countries to which it sends, unless the service runs with `BILLING=off`.
   */
  @Post()
  @RequireOperatorScope('otp:write')
  @Repeatable()
  @ApiCreatedResponse({ type: SingleOtpProjectResponse, description: 'The project.' })
  async create(
    @WorkspaceParam() workspace: Workspace,
    @Body() body: CreateOtpProjectRequest,
  ): Promise<SingleOtpProjectResponse> {
    const { name, mode, template_language: templateLanguage, allowed_countries: countries } = body;
    const made = await this.projects.create({
      organizationId: workspace.id,
      name: name.trim(),
      mode,
      ...(templateLanguage !== undefined && { templateLanguage }),
      ...(countries !== undefined && { allowedCountries: [...new Set(countries)] }),
    });
    return { data: OtpProjectResponse.of(made) };
  }

  /**
   * Read the packages of a project
   *
   * @remarks What the project may send to each country in a calendar month (UTC), and what it has sent, newest month first.
   */
  @Get(':id/packages')
  @RequireOperatorScope('otp:read')
  @ApiOkResponse({ type: OtpPackagesResponse, description: 'The packages.' })
  @ApiErrors('OTP_PROJECT_NOT_FOUND')
  async listPackages(@WorkspaceParam() workspace: Workspace, @ProjectId() id: string): Promise<OtpPackagesResponse> {
    return this.answer(await this.projects.getOf(workspace.id, id));
  }

  /**
   * Set a package
   *
   * @remarks How many codes the project may send to the country in each calendar month (UTC), the present one too; 0 ends it.
   */
  @Put(':id/packages/:country')
  @RequireOperatorScope('otp:write')
  @ApiParam({ name: 'country', description: 'ISO 3166 alpha-2, in capital letters.', example: 'DE' })
  @ApiOkResponse({ type: OtpPackagesResponse, description: 'The packages as they are now.' })
  @ApiErrors('OTP_PROJECT_NOT_FOUND', 'OTP_PACKAGE_NOT_POSSIBLE')
  async setPackage(
    @WorkspaceParam() workspace: Workspace,
    @ProjectId() id: string,
    @Param('country') country: string,
    @Body() body: SetOtpPackageRequest,
  ): Promise<OtpPackagesResponse> {
    const project = await this.projects.getOf(workspace.id, id);
    if (!isSupportedCountry(country)) throw invalidField('country', 'country', 'country must be a code such as DE.');
    await this.projects.grant(project, country, body.monthly_limit);
    return this.answer(project);
  }

  private async answer({ id, organizationId }: OtpProject): Promise<OtpPackagesResponse> {
    const allowances = await this.packages.allowances(organizationId, id);
    return { data: OtpPackagesData.of(allowances, await this.packages.list(organizationId, id)) };
  }
}

@ApiTags('Codes')
@AdminController('otp-sender')
export class OtpSenderAdminController {
  constructor(private readonly sender: OtpSenderService) {}

  /**
   * Read the sender of codes
   *
   * @remarks The service's own number, from which the codes of all projects are sent; never with its token.
   */
  @Get()
  @RequireOperatorScope('otp:read', { wholeInstallation: true })
  @ApiOkResponse({ type: OtpSenderResponse, description: 'The number.' })
  @ApiErrors('OTP_SENDER_NOT_SET')
  async get(): Promise<OtpSenderResponse> {
    const sender = await this.sender.find();
    if (sender === null) throw otpErrors.OTP_SENDER_NOT_SET();
    return { data: OtpSenderData.of(sender) };
  }

  /**
   * Set the sender of codes
   *
   * @remarks Checks token, number, account and template with the platform at once, subscribes to their notifications, and sends the codes of
   * all projects from this number. Nothing is changed where one of these fails; `message` says what to mend.
   */
  @Put()
  @RequireOperatorScope('otp:write', { wholeInstallation: true })
  @ApiOkResponse({ type: OtpSenderResponse, description: 'The number.' })
  @ApiErrors('OTP_SENDER_REFUSED', 'NUMBER_REFUSED')
  @ApiErrorsAs(502, 'NUMBER_REFUSED')
  async set(@Body() body: SetOtpSenderRequest): Promise<OtpSenderResponse> {
    const { languages, ...set } = await this.sender.connect({
      phoneNumberId: body.phone_number_id,
      wabaId: body.waba_id,
      templateName: body.template,
      token: body.token.trim(),
      throughputPerSecond: body.throughput_per_second,
    });
    return { data: OtpSenderData.of(set, languages) };
  }
}
