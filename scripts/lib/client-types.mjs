import openapiTS, { astToString } from 'openapi-typescript';

const headOf = (file) => `// Generated from ${file} by \`npm run generate\`; \`index.ts\` says what to import.\n\n`;

/**
 * The client's types from the API description.
 *
 * @param {string} file the committed description
 * @param {object} description the OpenAPI document; the examples among its components have the names of the error codes
 * @returns {Promise<string>} TypeScript
 */
export async function renderClientTypes(file, description) {
  // openapi-typescript changes what it is given.
  const ast = await openapiTS(structuredClone(description), { alphabetize: true, defaultNonNullable: false });
  const codes = Object.keys(description.components.examples).map((code) => `\n  | '${code}'`);
  return `${headOf(file)}${astToString(ast)}\n/** Codes that errors may have; a later Herald may know more. */\nexport type ErrorCode =${codes.join('')};\n`;
}
