import { InvalidSetting, setting, words } from './setting.js';

/** A connection string, which may contain a password: it is used unchanged, and messages show no part of it. */
export function connectionUrl<const N extends string>(name: N, server: keyof typeof SERVERS, required?: 'always') {
  return setting(name, (value) => readConnectionUrl(value, SERVERS[server]), { secret: true, required });
}

const SERVERS = {
  postgres: {
    begin: /^postgres(ql)?:\/\//i,
    like: 'postgres:// or postgresql://, such as postgres://user:password@host:5432/herald',
  },
  redis: { begin: /^rediss?:\/\//i, like: 'redis:// or rediss://, such as redis://:password@host:6379' },
};

/** Addresses contain no comma: in a password it is percent-encoded. */
export function postgresUrls(value: string): string[] {
  return words(value).map((url) => readConnectionUrl(url, SERVERS.postgres));
}

function readConnectionUrl(value: string, { begin, like }: { begin: RegExp; like: string }): string {
  if (!begin.test(value)) throw new InvalidSetting(`must be a URL that begins with ${like}`);
  const rest = value.slice(value.indexOf('://') + 3);
  const credentials = rest.slice(0, Math.max(rest.lastIndexOf('@'), 0));
  // Otherwise a part of the password would be read as the host, which messages show.
  if (/[@#/?]/.test(credentials) || value.includes('#')) {
    throw new InvalidSetting(
      'has one of @ # / ? in its user or password, which must be percent-encoded: %40, %23, %2F, %3F',
    );
  }
  if (!URL.canParse(value)) throw new InvalidSetting(`must be a URL such as ${like.replace(/^.*such as /, '')}`);
  try {
    decodeURIComponent(credentials);
  } catch {
    throw new InvalidSetting('has a percent sign that encodes nothing in its user or password; write %25');
  }
  return value;
}
