import { codeOf } from '../../../common/describe-error.js';

/**
 * Why a delivery got no answer, in words that are short, stable and shown to the workspace: they contain no address and
 * nothing that the server sent.
 */
export class DeliveryError extends Error {
  /** @param onKept it ended a connection that had served before. */
  constructor(
    readonly word: string,
    readonly onKept = false,
  ) {
    super(word);
    this.name = 'DeliveryError';
  }
}

const CONNECTION: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_reset',
  EPIPE: 'connection_reset',
  ECONNABORTED: 'connection_reset',
  ETIMEDOUT: 'connect_timeout',
  ENETUNREACH: 'unreachable',
  ENETDOWN: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  EHOSTDOWN: 'unreachable',
  EADDRNOTAVAIL: 'unreachable',
  EACCES: 'unreachable',
  EPERM: 'unreachable',
};

const CERTIFICATE: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'certificate has expired',
  CERT_NOT_YET_VALID: 'certificate is not yet valid',
  CERT_REVOKED: 'certificate is revoked',
  ERR_TLS_CERT_ALTNAME_INVALID: 'certificate is for another name',
  HOSTNAME_MISMATCH: 'certificate is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'certificate authority is unknown',
  UNABLE_TO_GET_ISSUER_CERT: 'certificate authority is unknown',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'certificate chain is incomplete or its authority unknown',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'certificate chain is incomplete or its authority unknown',
  CERT_UNTRUSTED: 'certificate is not trusted',
  CERT_REJECTED: 'certificate is not trusted',
  INVALID_PURPOSE: 'certificate is not for servers',
  INVALID_CA: 'certificate authority is invalid',
  PATH_LENGTH_EXCEEDED: 'certificate chain is too long',
  CERT_CHAIN_TOO_LONG: 'certificate chain is too long',
  CERT_SIGNATURE_FAILURE: 'certificate signature is wrong',
};

const NO_TLS: ReadonlySet<string> = new Set(['ERR_SSL_WRONG_VERSION_NUMBER', 'ERR_SSL_PACKET_LENGTH_TOO_LONG']);

const ANSWER: Readonly<Record<string, string>> = {
  UND_ERR_HEADERS_OVERFLOW: 'answer_headers_too_large',
  UND_ERR_INVALID_ARG: 'request_not_valid',
};

/** Of an error while TCP connects. */
export function connectWord(error: unknown): string {
  return CONNECTION[codeOf(error) ?? ''] ?? 'connection_failed';
}

/** Of an error during the TLS handshake. */
export function tlsWord(error: unknown): string {
  const code = codeOf(error) ?? '';
  const certificate = CERTIFICATE[code];
  if (certificate !== undefined) return `tls: ${certificate}`;
  if (code === 'UND_ERR_CONNECT_TIMEOUT') return 'tls: timeout';
  if (NO_TLS.has(code)) return 'tls: the server does not speak TLS';
  if (/_PROTOCOL_VERSION$|UNSUPPORTED_PROTOCOL/.test(code)) return 'tls: version 1.2 or newer is required';
  return code in CONNECTION ? 'tls: connection closed during the handshake' : 'tls: handshake failed';
}

/** Of an error after the request went out. */
export function answerWord(error: unknown): string {
  const code = codeOf(error) ?? '';
  const word = ANSWER[code] ?? CONNECTION[code];
  if (word !== undefined) return word;
  // The parser's own errors have a code or none, but always this name.
  const name = error instanceof Error ? error.name : '';
  if (name === 'HTTPParserError' || code === 'UND_ERR_RES_CONTENT_LENGTH_MISMATCH') return 'answer_is_not_http';
  return code === 'UND_ERR_SOCKET' ? 'connection_closed' : 'connection_failed';
}
