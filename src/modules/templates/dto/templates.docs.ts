import { applyDecorators } from '@nestjs/common';
import { ApiBody, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiParam } from '@nestjs/swagger';
import { ApiErrors } from '../../../infrastructure/http/api-errors.decorator.js';
import { namedSchema } from '../../../infrastructure/http/named-schemas.js';
import { CREATE_FORMS, EDIT_SHAPE, PREVIEW_SHAPE } from '../template-input.js';
import { PreviewResponse } from './preview.response.js';
import { TEMPLATE_STATES } from './template-states.picture.js';
import {
  DeletedTemplateResponse,
  SingleTemplateResponse,
  TemplateListResponse,
  TemplateVersionsResponse,
} from './template.response.js';

const Name = (example = 'order_update'): MethodDecorator =>
  ApiParam({ name: 'name', description: "The template's name.", schema: { type: 'string', example } });

/** Reads ask the platform only where there is no mirror yet; writes always do. */
const PLATFORM_CODES = ['PLATFORM_REJECTED', 'PLATFORM_UNAVAILABLE', 'PLATFORM_TIMEOUT'];

const CREATE_EXAMPLES = {
  body: {
    summary: 'A text with variables',
    value: {
      name: 'order_shipped',
      language: 'en_US',
      category: 'UTILITY',
      body: 'Hello {{1}}, your order {{2}} is on its way.',
      variable_examples: ['Ana', '4711'],
    },
  },
  components: {
    summary: "Header, footer and buttons, in the platform's format",
    value: {
      name: 'order_sent',
      language: 'en_US',
      category: 'UTILITY',
      parameter_format: 'NAMED',
      components: [
        { type: 'HEADER', format: 'TEXT', text: 'Your order' },
        {
          type: 'BODY',
          text: 'Hello {{first_name}}, your order left today.',
          example: { body_text_named_params: [{ param_name: 'first_name', example: 'Ana' }] },
        },
        { type: 'FOOTER', text: 'Lucky Shrub' },
        {
          type: 'BUTTONS',
          buttons: [
            {
              type: 'URL',
              text: 'Track',
              url: 'https://example.com/t/{{1}}',
              example: ['https://example.com/t/4711'],
            },
            { type: 'QUICK_REPLY', text: 'Stop messages' },
          ],
        },
      ],
    },
  },
  authentication: {
    summary: 'A one-time code',
    value: {
      name: 'login_code',
      language: 'en_US',
      category: 'AUTHENTICATION',
      components: [
        { type: 'BODY', add_security_recommendation: true },
        { type: 'FOOTER', code_expiration_minutes: 5 },
        { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy code' }] },
      ],
    },
  },
};

export const ListTemplatesDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'List templates and their moderation statuses',
      description: [
        "All templates of the connection's account, by name and language; the numbers of one account share them.",
        'Compared with the platform when the last comparison is older than a minute; changes that the platform tells',
        'of show at once. While the platform is down, the list shows what was known last (`synced_at`).',
        '',
        'The parameters are an addition of this service. Without them the whole list comes: the platform allows an',
        'account 6,000 templates at the most, counted by language.',
      ].join('\n'),
    }),
    ApiOkResponse({ type: TemplateListResponse, description: 'The templates.' }),
    ApiErrors('CONNECTION_NOT_FOUND', ...PLATFORM_CODES),
  );

export const CreateTemplateDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Create a template',
      description: [
        'Hands a template to the platform for review; send it once its status is `approved`. It is made either of',
        "`body` with one example for each variable, or of `components` in the platform's own format. One request makes",
        'one language; a further one with the same name adds another.',
        '',
        'A media header needs `example.header_handle`, which the platform gives for an upload of its own.',
        '',
        'Where the platform gives no clear answer (502, 504) the template may exist all the same: read it before you',
        'repeat the request.',
      ].join('\n'),
    }),
    ApiBody({
      required: true,
      schema: namedSchema('CreateTemplate', {
        oneOf: Object.entries(CREATE_FORMS).map(([name, schema]) => namedSchema(name, schema)),
      }),
      examples: CREATE_EXAMPLES,
    }),
    ApiCreatedResponse({ type: SingleTemplateResponse, description: 'Handed to the review.' }),
    ApiErrors('CONNECTION_NOT_FOUND', 'CONNECTION_NOT_READY', ...PLATFORM_CODES),
  );

export const GetTemplateDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Read one template',
      description: `All languages of a template, or with \`language\` that one only.\n\n${TEMPLATE_STATES}`,
    }),
    Name(),
    ApiOkResponse({ type: TemplateVersionsResponse, description: 'The template.' }),
    ApiErrors('CONNECTION_NOT_FOUND', 'TEMPLATE_NOT_FOUND', ...PLATFORM_CODES),
  );

export const EditTemplateDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Change the components of a template',
      description: [
        'Replaces all components of one language; the platform reviews them anew, and until then the template can not',
        'be sent. An approved template can be changed once in 24 hours and ten times in 30 days.',
      ].join('\n'),
    }),
    Name(),
    ApiBody({
      required: true,
      schema: namedSchema('EditTemplate', EDIT_SHAPE.schema),
      examples: {
        text: {
          summary: 'A new text',
          value: {
            language: 'en_US',
            components: [
              {
                type: 'BODY',
                text: 'Hello {{1}}, your order {{2}} left our house today.',
                example: { body_text: [['Ana', '4711']] },
              },
            ],
          },
        },
      },
    }),
    ApiOkResponse({ type: SingleTemplateResponse, description: 'Handed to the review.' }),
    ApiErrors('CONNECTION_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'CONNECTION_NOT_READY', ...PLATFORM_CODES),
  );

export const DeleteTemplateDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Delete a template',
      description: [
        'Deletes all languages of a template. The name is gone here at once, even while the platform still lists it; the',
        'platform refuses a new template with the name of an approved one for 30 days. The example is the one that the',
        'first example of POST makes.',
      ].join('\n'),
    }),
    Name('order_shipped'),
    ApiOkResponse({ type: DeletedTemplateResponse, description: 'Deleted.' }),
    ApiErrors('CONNECTION_NOT_FOUND', 'TEMPLATE_NOT_FOUND', 'CONNECTION_NOT_READY', ...PLATFORM_CODES),
  );

export const PreviewTemplateDocs = (): MethodDecorator =>
  applyDecorators(
    ApiOperation({
      summary: 'Preview a template with its variables filled',
      description: [
        'Renders the template as its reader will see it, and sends nothing. `missing` names the variables that got no',
        'value, `unused` the values that no variable takes.',
      ].join('\n'),
    }),
    ApiBody({
      required: true,
      schema: namedSchema('PreviewTemplate', PREVIEW_SHAPE.schema),
      examples: {
        filled: {
          summary: 'Two variables in the body',
          value: { template_name: 'order_update', parameters: { body: ['Ana', '4711'] } },
        },
      },
    }),
    ApiOkResponse({ type: PreviewResponse, description: 'The rendered template.' }),
    ApiErrors('CONNECTION_NOT_FOUND', 'TEMPLATE_NOT_FOUND', ...PLATFORM_CODES),
  );
