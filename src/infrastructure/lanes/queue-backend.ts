import {
  createPostgresBackend,
  createRedisBackend,
  setDefaultBackendFactory,
  type BackendFactory,
  type RedisQueueBackend,
} from 'bullmq';
import pg from 'pg';

/**
 * From now on each new queue and worker works on the backend of its connection. One process may hold both kinds, as
 * tests do.
 */
export function chooseBackendByConnection(): void {
  // Queue and Worker keep to what both backends have; their types name the one of Redis.
  const postgres = createPostgresBackend as unknown as BackendFactory<RedisQueueBackend>;
  setDefaultBackendFactory<RedisQueueBackend>((name, options, context) => {
    const create = options.connection instanceof pg.Pool ? postgres : createRedisBackend;
    return create(name, options, context);
  });
}
