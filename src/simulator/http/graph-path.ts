import { GraphError } from '../graph-error.js';

/** Oldest and newest version served; a call to an older one is answered by the oldest, as the platform does. */
const OLDEST_VERSION = 21;
const NEWEST_VERSION = 26;

export interface GraphPath {
  /** The version that answers. */
  version: number;
  nodeId: string;
  edge: string;
}

/** Reads `/v23.0/{id}/{edge}`; without a version the oldest answers. @throws GraphError 2500 for a version to come */
export function parseGraphPath(path: string): GraphPath {
  const match = /^\/(?:v(\d{1,3})\.\d+\/)?([^/]+)(?:\/(.*?))?\/?$/.exec(path);
  const version = match?.[1] === undefined ? OLDEST_VERSION : Number(match[1]);
  if (match === null || version > NEWEST_VERSION || /^v\d+(\.\d+)?$/.test(match[2] ?? '')) {
    const rest = path.replace(/^\/v\d+\.\d+/, '');
    throw new GraphError(2500, { message: `Unknown path components: ${rest}` });
  }
  return { version: Math.max(version, OLDEST_VERSION), nodeId: match[2] as string, edge: match[3] ?? '' };
}

/** No such object, or none that this token may see. */
export function unknownObject(method: string, nodeId: string): GraphError {
  return new GraphError(100, {
    subcode: 33,
    type: 'GraphMethodException',
    message:
      `Unsupported ${method.toLowerCase()} request. Object with ID '${nodeId}' does not exist, cannot be loaded due to ` +
      'missing permissions, or does not support this operation. Please read the Graph API documentation at ' +
      'https://developers.facebook.com/docs/graph-api',
  });
}

/** The object is there, the edge is not. */
export function unknownEdge(method: string, nodeId: string, edge: string): GraphError {
  if (method !== 'GET') return unknownObject(method, nodeId);
  return new GraphError(100, {
    httpStatus: 404,
    message: `(#100) Tried accessing nonexisting field (${edge}) on node ${nodeId}`,
  });
}
