import type {
  IDataObject,
  IExecuteFunctions,
  IHttpRequestMethods,
  ILoadOptionsFunctions,
  IPollFunctions,
} from 'n8n-workflow';

const TIMEOUT_MS = 30_000;

export interface HeraldRequest {
  method: IHttpRequestMethods;
  path: string;
  qs?: IDataObject;
  body?: IDataObject;
  headers?: IDataObject;
}

/** Calls Herald's API with the credential of the node; n8n shows the code and the words of a refusal. */
export async function heraldRequest(
  context: IExecuteFunctions | ILoadOptionsFunctions | IPollFunctions,
  { method, path, qs, body, headers }: HeraldRequest,
): Promise<IDataObject> {
  const { baseUrl } = await context.getCredentials<{ baseUrl: string }>('heraldApi');
  const answer: unknown = await context.helpers.httpRequestWithAuthentication.call(context, 'heraldApi', {
    method,
    baseURL: baseUrl.replace(/\/+$/, ''),
    url: path,
    qs,
    body,
    headers,
    json: true,
    timeout: TIMEOUT_MS,
  });
  return (answer ?? {}) as IDataObject;
}
