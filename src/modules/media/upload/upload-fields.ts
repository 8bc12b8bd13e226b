import type { ErrorDetail } from '../../../common/app-error.js';
import { commonErrors } from '../../../common/common.errors.js';
import { isUuid } from '../../../common/ids.js';
import { MEDIA_TYPES, type MediaType } from '../media.types.js';

/** The text fields of an upload; null: not given (yet, while the form is still coming in). */
export interface UploadFields {
  connectionId: string | null;
  type: MediaType | null;
  voice: boolean | null;
}

const NAMES = ['connection_id', 'type', 'voice'];

/**
 * Reads the fields that have come so far.
 *
 * @throws INVALID_REQUEST (400) naming each faulty one.
 */
export function readFields(form: Readonly<Record<string, unknown>>): UploadFields {
  const faults: ErrorDetail[] = [];
  const fault = (field: string, rule: string, message: string): void => void faults.push({ field, rule, message });
  const read = <T>(name: string, parse: (text: string) => T | null, must: string, rule: string): T | null => {
    const value = form[name];
    if (value === undefined) return null;
    if (typeof value !== 'string') {
      fault(name, 'repeated', `${name} must be given once.`);
      return null;
    }
    const parsed = parse(value);
    if (parsed === null) fault(name, rule, `${name} must be ${must}.`);
    return parsed;
  };
  for (const name of Object.keys(form)) {
    if (name === 'file') fault('file', 'type', 'file must be sent as a file, with a file name.');
    else if (!NAMES.includes(name)) {
      fault(name.slice(0, 64), 'unknown_field', `This field is not known here; allowed: file, ${NAMES.join(', ')}.`);
    }
  }
  const fields: UploadFields = {
    connectionId: read('connection_id', (text) => (isUuid(text) ? text.toLowerCase() : null), 'a UUID', 'format'),
    type: read('type', typeNamed, `one of ${MEDIA_TYPES.join(', ')}`, 'one_of'),
    voice: read(
      'voice',
      (text) => (text === 'true' || text === 'false' ? text === 'true' : null),
      'true or false',
      'one_of',
    ),
  };
  if (faults.length > 0) throw commonErrors.INVALID_REQUEST({ details: faults });
  return fields;
}

function typeNamed(text: string): MediaType | null {
  return MEDIA_TYPES.find((type) => type === text) ?? null;
}

export function refuseField(field: string, rule: string, message: string): never {
  throw commonErrors.INVALID_REQUEST({ details: [{ field, rule, message }] });
}
