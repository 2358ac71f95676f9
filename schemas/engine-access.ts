/**
 * Why an engine that is there turns this process away: credentials that it refuses, or certificates that do not fit.
 * Each is one sentence that begins with the variable to look at, for the log and `/ready`; it holds no secret.
 */
export class AccessProblem extends Error {
  override readonly name = 'AccessProblem';
}

/** The variables that say how one engine is reached. */
export interface EngineVariables {
  /** As a sentence names it. */
  readonly engine: string;
  readonly address: string;
  /** File of certificates that sign the engine's. */
  readonly ca: string;
  /** File of our own certificate. */
  readonly certificate: string;
  /** Where another name can be expected in the engine's certificate. */
  readonly serverName?: string;
}

const MAX_CAUSES = 8;

/** By its shape: an error of Node's own is of no class of a module that runs in a context of its own. */
function isError(value: unknown): value is Error {
  return typeof value === 'object' && value !== null && 'message' in value && 'name' in value;
}

/** The error and what it came from, the outermost first. */
export function causesOf(error: unknown): readonly Error[] {
  const found: Error[] = [];
  let next = error;
  while (isError(next) && found.length < MAX_CAUSES) {
    found.push(next);
    // MongoDB's driver hands over a description of its servers, each with the error it met.
    const described = (next as { reason?: { servers?: Map<string, { error?: unknown }> } }).reason?.servers;
    next = next.cause ?? (described === undefined ? undefined : [...described.values()][0]?.error);
  }
  return found;
}

/** The problem among an error's causes; undefined: it is of another kind. */
export function accessProblemOf(error: unknown): AccessProblem | undefined {
  return causesOf(error).find((cause) => cause instanceof AccessProblem);
}

/** What each part of a TLS handshake that fails is called by OpenSSL (through Node) and by rustls (Temporal's SDK). */
const TLS_FAULTS: readonly {
  readonly words: RegExp;
  readonly sentence: (names: EngineVariables) => string;
}[] = [
  {
    words:
      /UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER_CERT|unable to verify the first certificate|self-signed certificate|unable to get (local )?issuer certificate|UnknownIssuer|invalid peer certificate: BadSignature/,
    sentence: ({ ca, engine }) => `${ca}: none of its certificates signs the certificate of ${engine}.`,
  },
  {
    words:
      /CERT_HAS_EXPIRED|certificate has expired|CERT_NOT_YET_VALID|invalid peer certificate: (Expired|NotValidYet)/,
    sentence: ({ address, engine }) => `${address}: the certificate of ${engine} is not valid at this time.`,
  },
  {
    words: /ERR_TLS_CERT_ALTNAME_INVALID|does not match certificate's altnames|NotValidForName/,
    sentence: ({ address, engine, serverName }) =>
      `${serverName ?? address}: the certificate of ${engine} is for another name.`,
  },
  {
    words:
      // The alerts of RFC 8446, section 6.2, about our certificate: 42 to 46, 48, 49 and 116. Servers differ in which.
      /CERTIFICATE_REQUIRED|certificate required|CertificateRequired|BAD_CERTIFICATE|bad certificate|BadCertificate|UNKNOWN_CA|unknown ca|UnknownCA|alert certificate|fatal alert: (?:Certificate(?:Unknown|Revoked|Expired)|UnsupportedCertificate|AccessDenied)|alert number (4[2-689]|116)\b|HandshakeFailure|handshake failure/,
    sentence: ({ certificate, engine }) =>
      `${certificate}: ${engine} wants a client certificate that it knows, and was shown ` +
      'none or another one.',
  },
  {
    words:
      /WRONG_VERSION_NUMBER|wrong version number|packet length too long|InvalidContentType|corrupt message/,
    sentence: ({ address, engine }) => `${address}: ${engine} does not speak TLS there.`,
  },
];

/** The sentence about a TLS handshake that failed; undefined: something else is the matter. */
export function tlsProblem(error: unknown, names: EngineVariables): AccessProblem | undefined {
  const words = causesOf(error)
    .map((cause) => `${(cause as { code?: string | number }).code ?? ''} ${cause.message}`)
    .join('\n');
  const fault = TLS_FAULTS.find((each) => each.words.test(words));
  return fault && new AccessProblem(fault.sentence(names), { cause: error });
}
