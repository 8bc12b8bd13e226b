import { createConfig, lintFromString } from '@redocly/openapi-core';
import { readProjectFile } from '../support/project-files.js';

describe('openapi.json', () => {
  it("passes Redocly's recommended rules, and stricter ones, without a finding", async () => {
    const config = await createConfig({
      extends: ['recommended'],
      rules: {
        // What the recommended set leaves off, or only warns of.
        'operation-description': 'error',
        'operation-singular-tag': 'error',
        'parameter-description': 'error',
        'tag-description': 'error',
        'no-invalid-media-type-examples': 'error',
        'no-invalid-parameter-examples': 'error',
        'no-invalid-schema-examples': 'error',
        'no-unused-components': 'error',
      },
    });
    const problems = await lintFromString({
      source: readProjectFile('openapi.json'),
      absoluteRef: 'openapi.json',
      config,
    });
    const findings = problems.map(
      ({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer ?? ''}`,
    );
    expect(findings).toEqual([]);
  });

  it('can be read by generators of clients: schemas that are objects, no defaults of properties, absolute addresses', () => {
    const { info, externalDocs, ...rest } = JSON.parse(readProjectFile('openapi.json')) as {
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

  it('has no example that only says its type', () => {
    expect(readProjectFile('openapi.json')).not.toMatch(/"example": ?"string"/);
  });
});
