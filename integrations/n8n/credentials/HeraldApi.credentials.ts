import type {
  IAuthenticateGeneric,
  ICredentialTestRequest,
  ICredentialType,
  Icon,
  INodeProperties,
} from 'n8n-workflow';

export class HeraldApi implements ICredentialType {
  name = 'heraldApi';

  displayName = 'Herald API';

  icon: Icon = { light: 'file:../icons/herald.svg', dark: 'file:../icons/herald.dark.svg' };

  documentationUrl = 'https://github.com/herald-whatsapp/n8n-nodes-herald#credentials';

  properties: INodeProperties[] = [
    {
      displayName: 'Base URL',
      name: 'baseUrl',
      type: 'string',
      default: '',
      required: true,
      placeholder: 'https://herald.example.com',
      description: 'Where Herald answers, without /api/v1',
    },
    {
      displayName: 'API Key',
      name: 'apiKey',
      type: 'string',
      typeOptions: { password: true },
      default: '',
      required: true,
      description: 'From "herald key create"; its scopes decide what the nodes may do',
    },
  ];

  authenticate: IAuthenticateGeneric = {
    type: 'generic',
    properties: { headers: { Authorization: '=Bearer {{$credentials.apiKey}}' } },
  };

  test: ICredentialTestRequest = {
    request: { baseURL: '={{$credentials.baseUrl.replace(/\\/+$/, "")}}', url: '/api/v1/key' },
  };
}
