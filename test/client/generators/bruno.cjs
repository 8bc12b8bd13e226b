// Imports openapi.json as the program Bruno does, and looks for the requests.
const { readFileSync } = require('node:fs');
const { openApiToBruno } = require('@usebruno/converters');

const description = JSON.parse(readFileSync('openapi.json', 'utf8'));
const { items } = openApiToBruno(description);
const requests = items.flatMap(({ items: inside = [] }) => inside);
const operations = Object.values(description.paths).flatMap((methods) => Object.keys(methods));
if (requests.length !== operations.length)
  throw new Error(`Bruno has ${requests.length} requests of ${operations.length} operations`);
