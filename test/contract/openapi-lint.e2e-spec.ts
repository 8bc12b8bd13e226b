import { readFileSync } from 'node:fs';
import { createConfig, lintFromString } from '@redocly/openapi-core';

describe('openapi.json', () => {
  it("passes Redocly's recommended rules without a finding", async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({
      source: readFileSync('openapi.json', 'utf8'),
      absoluteRef: 'openapi.json',
      config,
    });
    expect(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`)).toEqual([]);
  });

  it('has no example that only says its type', () => {
    expect(readFileSync('openapi.json', 'utf8')).not.toMatch(/"example": ?"string"/);
  });
});
