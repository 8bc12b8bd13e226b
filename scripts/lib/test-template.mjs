// The migrated database that every test file clones.
import pg from 'pg';

const MIGRATE = new URL('../../dist/src/infrastructure/database/migrate.js', import.meta.url);

/**
 * Makes the template on the server at `adminUrl`.
 *
 * @param {boolean} shared the server serves others too: the template gets a name of its own and goes at the end.
 * @returns {Promise<{name: string, drop: () => Promise<void>}>}
 */
export async function prepareTemplate(adminUrl, shared) {
  const name = shared ? `herald_template_${process.pid}` : 'herald_template';
  await asAdmin(adminUrl, async (client) => {
    await client.query(`drop database if exists ${name}`);
    await client.query(`create database ${name}`);
  });
  const { migrate } = await import(MIGRATE.href);
  const url = new URL(adminUrl);
  url.pathname = `/${name}`;
  await migrate(url.href);
  return {
    name,
    drop: async () => {
      if (shared) await asAdmin(adminUrl, (client) => client.query(`drop database if exists ${name} with (force)`));
    },
  };
}

async function asAdmin(url, work) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
