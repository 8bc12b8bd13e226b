import { createConfig, lintFromString } from '@redocly/openapi-core';
import { readProjectFile } from '../support/project-files.js';

describe.each(['openapi.json', 'openapi-admin.json'])('%s', (file) => {
  it("passes Redocly's recommended rules, and stricter ones, without a finding", async () => {
    const config = await createConfig({
      extends: ['recommended'],
      rules: {
        // What the recommended set leaves off, or only warns of.
        'operation-description': 'error',
        'operation-singular-tag': 'error',
        'parameter-description': 'error',
        'tag-description': 'error',
        // It takes each alternative of a message by itself; openapi-complete.e2e-spec.ts looks at undocumented fields.
        'no-invalid-media-type-examples': { severity: 'error', allowAdditionalProperties: true },
        'no-invalid-parameter-examples': 'error',
        'no-invalid-schema-examples': 'error',
        'no-unused-components': 'error',
      },
    });
    const problems = await lintFromString({
      source: readProjectFile(file),
      absoluteRef: file,
      config,
    });
    const findings = problems.map(
      ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`,
    );
    expect(findings).toEqual([]);
  });

  it('can be read by generators of clients: schemas that are objects, no defaults of properties, absolute addresses', () => {
    const { info, externalDocs, ...rest } = JSON.parse(readProjectFile(file)) as {
      info: { license: { url: string } };
      externalDocs: { url: string };
    };
    const addresses = [info.license.url, externalDocs.url];
    expect(addresses.filter((url) => !URL.canParse(url))).toEqual([]);
    const violations: string[] = [];
    const look = (node: unknown, path: string): void => {
      if (typeof node !== 'object' || node === null) return;
      for (const [key, child] of Object.entries(node)) {
        const inProperties = path.endsWith('/properties');
        if (inProperties && typeof child === 'boolean') violations.push(`${path}/${key} is ${child}`);
        if (inProperties && (child as { default?: unknown }).default !== undefined)
          violations.push(`${path}/${key} has a default`);
        look(child, `${path}/${key}`);
      }
    };
    look(rest, '');
    expect(violations).toEqual([]);
  });
});

describe('openapi.json', () => {
  it('names nothing as languages name it, has no types without a meaning, and is small enough for generators and browsers', () => {
    const text = readProjectFile('openapi.json');
    const { components } = JSON.parse(text) as { components: { schemas: Record<string, object> } };
    expect(Object.keys(components.schemas)).not.toContain('Error');
    expect(readProjectFile('clients/typescript/src/schema.ts')).not.toMatch(/unknown \||& unknown|& \(unknown/);
    expect(JSON.stringify(JSON.parse(text)).length).toBeLessThan(650_000);
  });

  it('describes words of which there will be more without an enum', () => {
    const text = readProjectFile('openapi.json');
    const { components } = JSON.parse(text) as { components: { schemas: Record<string, Record<string, unknown>> } };
    expect(components.schemas.FailureCategory?.enum).toBeUndefined();
    expect(components.schemas.FailureCategory?.['x-extensible-enum']).toContain('recipient_unreachable');
    // Twice there, and once each in the filter of the journal and the retry of a tag, which take the words of this version only.
    expect(text.match(/"recipient_limit"/g)).toHaveLength(4);
  });

  it('has no example that only says its type', () => {
    expect(readProjectFile('openapi.json')).not.toMatch(/"example": ?"string"/);
  });
});
