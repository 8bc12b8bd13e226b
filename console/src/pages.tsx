import { type ComponentType, lazy, type LazyExoticComponent } from 'react';
import type { IconName } from './icon.tsx';

interface PageProps {
  /** What stands behind the page's path in the address. */
  selected: string | null;
}

export interface PageEntry {
  path: string;
  label: string;
  icon: IconName;
  /** The key needs one of them. */
  scopes: readonly string[];
  Page: LazyExoticComponent<ComponentType<PageProps>>;
  preload: () => void;
}

function page(entry: Omit<PageEntry, 'Page' | 'preload'>, load: () => Promise<ComponentType<PageProps>>): PageEntry {
  return {
    ...entry,
    Page: lazy(async () => ({ default: await load() })),
    // A failure shows where the page is opened.
    preload: () => void load().catch(() => undefined),
  };
}

/** Each page is a file of its own, loaded when it is first opened. */
export const PAGES: readonly PageEntry[] = [
  page(
    { path: '/overview', label: 'Overview', icon: 'overview', scopes: ['messages:read'] },
    async () => (await import('./overview.tsx')).OverviewPage,
  ),
  page(
    { path: '/usage', label: 'Usage', icon: 'usage', scopes: ['messages:read'] },
    async () => (await import('./usage.tsx')).UsagePage,
  ),
  page(
    { path: '/messages', label: 'Messages', icon: 'messages', scopes: ['messages:read'] },
    async () => (await import('./messages.tsx')).MessagesPage,
  ),
  page(
    { path: '/conversations', label: 'Chats', icon: 'chat', scopes: ['messages:read'] },
    async () => (await import('./conversations.tsx')).ConversationsPage,
  ),
  page(
    { path: '/campaigns', label: 'Campaigns', icon: 'campaign', scopes: ['messages:read'] },
    async () => (await import('./campaigns.tsx')).CampaignsPage,
  ),
  page(
    { path: '/send', label: 'Send', icon: 'send', scopes: ['messages:write'] },
    async () => (await import('./send.tsx')).SendPage,
  ),
  page(
    { path: '/webhook', label: 'Webhook', icon: 'webhook', scopes: ['webhooks:read'] },
    async () => (await import('./webhook.tsx')).WebhookPage,
  ),
  page(
    { path: '/destinations', label: 'Destinations', icon: 'out', scopes: ['webhooks:read'] },
    async () => (await import('./destinations.tsx')).DestinationsPage,
  ),
  page(
    { path: '/numbers', label: 'Numbers', icon: 'number', scopes: ['connections:read'] },
    async () => (await import('./numbers.tsx')).NumbersPage,
  ),
  page(
    { path: '/templates', label: 'Templates', icon: 'template', scopes: ['templates:read'] },
    async () => (await import('./templates.tsx')).TemplatesPage,
  ),
  page(
    { path: '/media', label: 'Files', icon: 'file', scopes: ['media:read'] },
    async () => (await import('./files.tsx')).FilesPage,
  ),
  page(
    { path: '/codes', label: 'Codes', icon: 'code', scopes: ['otp:read', 'otp:send', 'otp:verify'] },
    async () => (await import('./codes.tsx')).CodesPage,
  ),
  page(
    { path: '/people', label: 'People', icon: 'people', scopes: ['manage:people:read'] },
    async () => (await import('./people.tsx')).PeoplePage,
  ),
  page(
    { path: '/keys', label: 'Keys', icon: 'key', scopes: ['manage:keys:read'] },
    async () => (await import('./people.tsx')).KeysPage,
  ),
  page(
    { path: '/operator/workspaces', label: 'Workspaces', icon: 'workspace', scopes: ['operator:workspaces:read'] },
    async () => (await import('./operator-workspaces.tsx')).WorkspacesPage,
  ),
  page(
    { path: '/operator/numbers', label: 'Numbers', icon: 'number', scopes: ['operator:connections:read'] },
    async () => (await import('./operator-numbers.tsx')).AllNumbersPage,
  ),
  page(
    { path: '/operator/usage', label: 'Usage', icon: 'usage', scopes: ['operator:usage:read'] },
    async () => (await import('./operator-usage.tsx')).AllUsagePage,
  ),
  page(
    { path: '/operator/prices', label: 'Prices', icon: 'price', scopes: ['operator:billing:read'] },
    async () => (await import('./operator-prices.tsx')).PricesPage,
  ),
  page(
    { path: '/operator/audit', label: 'Audit', icon: 'clock', scopes: ['operator:audit:read'] },
    async () => (await import('./operator-audit.tsx')).AuditPage,
  ),
  page(
    { path: '/operator/health', label: 'Health', icon: 'overview', scopes: ['operator:installation:read'] },
    async () => (await import('./operator-health.tsx')).HealthPage,
  ),
];

export const isAt = (path: string, location: string): boolean => location === path || location.startsWith(`${path}/`);
