import type { Endpoint } from '../../infrastructure/whatsapp/graph-error.js';

/** Which endpoint of the platform takes marketing templates: the one that it asks for, or always `messages`. */
export const MARKETING_ROUTES = ['auto', 'messages'] as const;
export type MarketingRoute = (typeof MARKETING_ROUTES)[number];

interface Routed {
  marketingRoute: MarketingRoute;
  marketingStatus: string | null;
}

/** The endpoint that takes a template of this category; one that is not known goes by `messages`. */
export function endpointOf({ marketingRoute, marketingStatus }: Routed, category: string | null): Endpoint {
  const isOnboarded = marketingRoute === 'auto' && marketingStatus === 'ONBOARDED';
  return category === 'MARKETING' && isOnboarded ? 'marketing_messages' : 'messages';
}
