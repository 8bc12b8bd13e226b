import { Workspaces1770000000000 } from './1770000000000-workspaces.js';
import { Keys1770100000000 } from './1770100000000-keys.js';
import { Audit1770200000000 } from './1770200000000-audit.js';
import { Operations1770300000000 } from './1770300000000-operations.js';
import { Connections1770400000000 } from './1770400000000-connections.js';
import { Conversations1770500000000 } from './1770500000000-conversations.js';
import { Messages1770600000000 } from './1770600000000-messages.js';
import { Notifications1770700000000 } from './1770700000000-notifications.js';
import { Templates1770800000000 } from './1770800000000-templates.js';
import { Media1770900000000 } from './1770900000000-media.js';
import { Webhook1771000000000 } from './1771000000000-webhook.js';
import { Otp1771100000000 } from './1771100000000-otp.js';
import { OptOuts1771200000000 } from './1771200000000-opt-outs.js';
import { Usage1771300000000 } from './1771300000000-usage.js';
import { Limits1771500000000 } from './1771500000000-limits.js';
import { Tags1771600000000 } from './1771600000000-tags.js';
import { People1771700000000 } from './1771700000000-people.js';
import { Setup1771800000000 } from './1771800000000-setup.js';
import { Destinations1771900000000 } from './1771900000000-destinations.js';
import { ConversationAssigneeId1795963490721 } from './1795963490721-conversation-assignee-id.js';
import { PersonGrant1795964923421 } from './1795964923421-person-grant.js';
import { NotifiedPerson1795966000000 } from './1795966000000-notified-person.js';

/** Oldest first: one migration a module, then what changed later. A test compares this list with the folder. */
export const migrations = [
  Workspaces1770000000000,
  Keys1770100000000,
  Audit1770200000000,
  Operations1770300000000,
  Connections1770400000000,
  Conversations1770500000000,
  Messages1770600000000,
  Notifications1770700000000,
  Templates1770800000000,
  Media1770900000000,
  Webhook1771000000000,
  Otp1771100000000,
  OptOuts1771200000000,
  Usage1771300000000,
  Limits1771500000000,
  Tags1771600000000,
  People1771700000000,
  Setup1771800000000,
  Destinations1771900000000,
  ConversationAssigneeId1795963490721,
  PersonGrant1795964923421,
  NotifiedPerson1795966000000,
];
