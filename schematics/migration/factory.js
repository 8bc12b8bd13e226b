import { addMigration } from '../lib/migration.js';

/** `npx nest g migration add-colour-to-labels`: up and down are yours to write. */
export function main({ name }) {
  return async (tree) => {
    const kebab = name.replaceAll(/[\s_]+/g, '-').toLowerCase();
    if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(kebab)) {
      throw new Error(`${name} is no name of a migration: give letters and hyphens, such as label-colour`);
    }
    await addMigration(tree, kebab, [], [], `What it adds: ${kebab.replaceAll('-', ' ')}.`);
  };
}
