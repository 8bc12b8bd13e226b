import pg from 'pg';

/** A transaction of another process. `end` undoes it, unless it was committed. */
export async function beginTransaction(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  client.on('error', () => undefined);
  await client.query('begin');
  return client;
}

/** A transaction of another program that stays open, as a backup's: what is removed meanwhile cannot be vacuumed. `end` ends it. */
export async function holdTransaction(databaseUrl: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  await client.query('begin isolation level repeatable read');
  // The snapshot is taken by the first statement.
  await client.query('select 1');
  return client;
}
