import { interactiveKinds } from './interactive-kinds.js';
import { interactiveVariant } from './interactive-variant.js';
import { contactsVariant, locationVariant } from './location-and-contacts.js';
import { mediaVariants } from './media-variants.js';
import { reactionVariant } from './reaction-variant.js';
import { templateVariant } from './template-variant.js';
import { legacyTextVariant, textVariant } from './text-variants.js';
import type { MessageVariant } from './variant.js';

/** Every form of POST /messages; exactly one fits a valid body, and `type` says which. */
export const MESSAGE_VARIANTS: readonly MessageVariant[] = [
  textVariant,
  legacyTextVariant,
  ...mediaVariants,
  templateVariant,
  interactiveVariant,
  ...interactiveKinds,
  locationVariant,
  contactsVariant,
  reactionVariant,
];
