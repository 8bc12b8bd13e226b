import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';

/** Settings that the chart decides by itself: `herald.config` of its helpers, and the roles of its Deployments. */
export const OF_THE_CHART = [
  'NODE_ENV',
  'ROLES',
  'HOST',
  'PORT',
  'DATA_DIR',
  'LOG_FORMAT',
  'DATABASE_MIGRATE',
  'SHUTDOWN_TIMEOUT_MS',
  'SHUTDOWN_DRAIN_MS',
];

/** Settings of commands, of the simulator, and switches that production refuses. */
const NOT_IN_A_CLUSTER = /^(HERALD_|SIMULATOR_|DEMO$|WEBHOOK_ALLOW_PRIVATE_TARGETS$)/;

/** The schema of the chart's values with the names of the settings that are there: a misspelt one fails at `helm install`. */
export async function renderChartSchema(path, settings) {
  const schema = JSON.parse(readFileSync(path, 'utf8'));
  const usable = settings.map(({ setting }) => setting).filter(({ name }) => !NOT_IN_A_CLUSTER.test(name));
  const names = (isSecret) =>
    usable
      .filter(({ name, options: { secret } }) => (secret === true) === isSecret && !OF_THE_CHART.includes(name))
      .map(({ name }) => name);
  schema.properties.config.propertyNames.enum = names(false);
  schema.properties.secrets.properties.settings.propertyNames.enum = names(true);
  return format(JSON.stringify(schema), { ...(await resolveConfig(path)), filepath: path });
}
