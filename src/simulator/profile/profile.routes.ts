import { createHash } from 'node:crypto';
import { GraphError } from '../graph-error.js';
import { type Answer, jsonAnswer, SUCCESS } from '../http/answer.js';
import type { Call } from '../http/call.js';
import { checkProduct } from '../messages/message-checks.js';
import type { SimulatorContext } from '../simulator-context.js';
import type { Collection } from '../state/state-store.js';
import { readProfileChange } from './profile-checks.js';
import type { Profile } from './profile.types.js';

// prettier-ignore
const FIELDS = ['about', 'address', 'description', 'email', 'profile_picture_url', 'websites', 'vertical'] as const;

/** Registers reading and writing a number's profile. */
export function registerProfileRoutes(context: SimulatorContext): void {
  const profiles = context.state.collection<Profile>('profiles');
  context.router.graph('GET', 'phone_number', 'whatsapp_business_profile', (call) => read(profiles, call));
  context.router.graph('POST', 'phone_number', 'whatsapp_business_profile', (call) => write(profiles, call));
}

/** Without `fields` there is nothing but the product; a field that is not set does not appear. */
function read(profiles: Collection<Profile>, call: Call): Answer {
  const asked = (call.query.get('fields') ?? '').split(',').map((field) => field.trim());
  const known: readonly string[] = [...FIELDS, 'messaging_product', 'id', ''];
  const unknown = asked.find((field) => !known.includes(field));
  if (unknown !== undefined) {
    throw new GraphError(100, {
      message: `(#100) Tried accessing nonexisting field (${unknown}) on node type (WhatsAppBusinessProfile)`,
    });
  }
  const profile = profiles.get(call.nodeId) ?? {};
  const shown = FIELDS.filter((field) => asked.includes(field) && profile[field] !== undefined);
  return jsonAnswer({
    data: [{ ...Object.fromEntries(shown.map((field) => [field, profile[field]])), messaging_product: 'whatsapp' }],
  });
}

function write(profiles: Collection<Profile>, call: Call): Answer {
  const body = call.jsonObject();
  checkProduct(body);
  const { fields, pictureHandle } = readProfileChange(body);
  const merged = { ...profiles.get(call.nodeId), ...fields };
  const profile = Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null)) as Profile;
  if (pictureHandle !== null) profile.profile_picture_url = pictureAddress(call.nodeId, pictureHandle);
  profiles.set(call.nodeId, profile);
  return SUCCESS;
}

function pictureAddress(phoneNumberId: string, handle: string): string {
  const name = createHash('sha256').update(`${phoneNumberId} ${handle}`).digest('hex').slice(0, 16);
  return `https://pps.whatsapp.net/v/t61.24694-24/${name}_n.jpg?ccb=11-4&oh=01_Q5&oe=6971C5A0`;
}
