// The diagram of a message's states in docs/, of the table that the code goes by.

const PLACE = { begin: '<!-- states: written by npm run generate -->', end: '<!-- end of states -->' };

/** What causes each move that is drawn. */
const CAUSES = {
  'queued -> processing': 'claimed by a worker',
  'processing -> queued': 'tried again later',
  'processing -> accepted': 'WhatsApp accepts it',
  'accepted -> sent': 'notification',
  'sent -> delivered': 'notification',
  'delivered -> read': 'notification',
  'processing -> failed': 'refused',
  'accepted -> failed': 'notification',
  'sent -> failed': 'notification',
  'failed -> queued': 'retry',
  'processing -> outcome_unknown': 'no clear answer',
  'outcome_unknown -> sent': 'notification',
  'outcome_unknown -> failed': 'notification',
  'outcome_unknown -> queued': 'retry, confirmed',
};

/** Said in words below the diagram: cancel and expiry of a queued message, and what an operator does to a restored backup. */
const UNDRAWN = new Set([
  'outcome_unknown -> accepted',
  'queued -> accepted',
  'queued -> failed',
  'queued -> outcome_unknown',
]);

/**
 * The page with the diagram in its place.
 *
 * @param {string} page
 * @param {{MESSAGE_STATUSES: string[], legalMoves: () => {from: string, to: string}[]}} messages the states of a message
 * @throws Error where the diagram has other states or moves than the code, or the page has no place for it
 */
export function withStatesDiagram(page, { MESSAGE_STATUSES, legalMoves }) {
  const legal = new Set(legalMoves().map(({ from, to }) => `${from} -> ${to}`));
  // Reports of a later state win over any state; drawn are those in order.
  const wins = (move) => /-> (sent|delivered|read)$/.test(move);
  const drawn = Object.keys(CAUSES);
  const faults = [
    // An inbound message is received, and stays so.
    ...MESSAGE_STATUSES.filter((status) => status !== 'received' && !drawn.some((move) => move.endsWith(` ${status}`))),
    ...drawn.filter((move) => !legal.has(move)),
    ...[...legal].filter((move) => !drawn.includes(move) && !wins(move) && !UNDRAWN.has(move)),
  ];
  if (faults.length > 0) throw new Error(`the diagram of a message's states is wrong about: ${faults.join('; ')}`);
  const [from, to] = [page.indexOf(PLACE.begin), page.indexOf(PLACE.end)];
  if (from === -1 || to < from) throw new Error(`the page has no place for the diagram: ${PLACE.begin}`);
  const lines = Object.entries(CAUSES).map(([move, cause]) => `  ${move.replace('->', '-->')}: ${cause}`);
  const block = ['```mermaid', 'stateDiagram-v2', '  [*] --> queued: POST /messages', ...lines, '```'].join('\n');
  return `${page.slice(0, from)}${PLACE.begin}\n\n${block}\n\n${page.slice(to)}`;
}
