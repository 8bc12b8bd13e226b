import type { Endpoint } from '../../infrastructure/whatsapp/graph-error.js';

/** The endpoint for marketing templates: the one that WhatsApp asks for, or always `messages`. */
export const MARKETING_ROUTES = ['auto', 'messages'] as const;
export type MarketingRoute = (typeof MARKETING_ROUTES)[number];

interface Routed {
  marketingRoute: MarketingRoute;
  marketingStatus: string | null;
}

/** The endpoint for a template of this category; `messages` for an unknown one. */
export function endpointOf({ marketingRoute, marketingStatus }: Routed, category: string | null): Endpoint {
  const isOnboarded = marketingRoute === 'auto' && marketingStatus === 'ONBOARDED';
  return category === 'MARKETING' && isOnboarded ? 'marketing_messages' : 'messages';
}
