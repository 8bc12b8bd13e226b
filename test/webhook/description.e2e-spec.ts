import { createConfig, lintFromString } from '@redocly/openapi-core';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { TestApp } from '../support/test-app.js';
import { waitFor } from '../support/wait-for.js';
import { startWebhookApp, subscriber } from './fixture.js';
import { Receiver } from '../faults/webhook-receiver.js';

interface Description {
  webhooks: Record<
    string,
    {
      post: {
        requestBody: {
          content: { 'application/json': { schema: { $ref: string }; examples: Record<string, { value: unknown }> } };
        };
      };
    }
  >;
  components: { schemas: Record<string, object> };
}

let test: TestApp;
let receiver: Receiver;
let description: Description;

beforeAll(async () => {
  [test, receiver] = await Promise.all([startWebhookApp(), Receiver.start()]);
  description = (await test.api.get<Description>('/openapi.json')).body;
});
afterAll(async () => {
  await test?.stop();
  await receiver?.stop();
});

function validator(type: string) {
  const ajv = new Ajv2020({ strict: false, allErrors: true, validateFormats: false });
  const { $ref } = description.webhooks[type]?.post.requestBody.content['application/json'].schema ?? { $ref: '' };
  const validate = ajv.compile({ $ref, components: description.components });
  return (value: unknown) => ({ valid: validate(value), errors: validate.errors });
}

describe('the section webhooks of the API description', () => {
  it('has every kind of event', () => {
    expect(Object.keys(description.webhooks)).toEqual(['message.received', 'message.status.updated', 'webhook.test']);
  });

  it.each(['message.received', 'message.status.updated', 'webhook.test'])('has examples of %s that fit', (type) => {
    const examples = description.webhooks[type]?.post.requestBody.content['application/json'].examples ?? {};
    expect(Object.keys(examples).length).toBeGreaterThan(0);
    const validate = validator(type);
    for (const { value } of Object.values(examples)) {
      expect(validate(value)).toEqual({ valid: true, errors: null });
      expect(validate({ ...(value as object), data: {} }).valid).toBe(false);
    }
  });

  it('describes what is really sent', async () => {
    const { api, configure } = await subscriber(test);
    await configure({ url: receiver.url() });
    const { event_id: id } = (await api.post('/webhook/test')).body.data;
    const delivery = await waitFor(() => receiver.of(id as string)[0]);
    expect(validator('webhook.test')(JSON.parse(delivery.body))).toEqual({ valid: true, errors: null });
  });

  it("passes Redocly's recommended rules", async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const source = JSON.stringify(description);
    const problems = await lintFromString({ source, absoluteRef: 'openapi.json', config });
    const ours = problems.filter(({ location }) => location.some(({ pointer }) => pointer?.startsWith('#/webhooks')));
    expect(ours.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });
});
