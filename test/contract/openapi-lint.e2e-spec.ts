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

  it('has no example that only says its type', () => {
    expect(readProjectFile('openapi.json')).not.toMatch(/"example": ?"string"/);
  });
});
