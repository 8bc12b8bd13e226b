import { ApiBody } from '@nestjs/swagger';
import { namedSchema } from '../../../infrastructure/http/api-description.js';
import { CREATE_FORMS, EDIT_SHAPE, PREVIEW_SHAPE } from '../template-input.js';

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

const EDIT_EXAMPLES = {
  text: {
    summary: 'A new text',
    value: {
      language: 'en_US',
      components: [
        {
          type: 'BODY',
          text: 'Hello {{1}}, your order {{2}} left our warehouse today.',
          example: { body_text: [['Ana', '4711']] },
        },
      ],
    },
  },
};

const PREVIEW_EXAMPLES = {
  components: {
    summary: 'What a message would send',
    value: {
      template_name: 'order_update',
      components: [
        {
          type: 'body',
          parameters: [
            { type: 'text', text: 'Ana' },
            { type: 'text', text: '4711' },
          ],
        },
      ],
    },
  },
  filled: {
    summary: 'Values alone',
    value: { template_name: 'order_update', parameters: { body: ['Ana', '4711'] } },
  },
};

const CREATE = {
  oneOf: Object.entries(CREATE_FORMS).map(([name, schema]) => namedSchema(name, schema)),
};

type Examples = Record<string, { summary: string; value: object }>;

const bodyOf = (name: string, schema: Readonly<Record<string, unknown>>, examples: Examples): MethodDecorator =>
  ApiBody({ required: true, schema: namedSchema(name, schema), examples });

export const CreateTemplateBody = (): MethodDecorator => bodyOf('CreateTemplate', CREATE, CREATE_EXAMPLES);
export const EditTemplateBody = (): MethodDecorator => bodyOf('EditTemplate', EDIT_SHAPE.schema, EDIT_EXAMPLES);
export const PreviewTemplateBody = (): MethodDecorator =>
  bodyOf('PreviewTemplateRequest', PREVIEW_SHAPE.schema, PREVIEW_EXAMPLES);
