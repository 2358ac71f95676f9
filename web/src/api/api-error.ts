/** What the server answered instead of what was asked for. `status` 0: it could not be reached. */
export class ApiError extends Error {
  override readonly name = 'ApiError';

  constructor(
    readonly status: number,
    /** Of the error table, where the server gave one. */
    readonly code: string | null,
    message: string,
    readonly retryAfterSeconds: number | null = null,
    /** What the documents' side adds to some errors. */
    readonly extra: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

/** A refusal stays one; a server that is away, or asks to wait, comes back. */
export function mayPass(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.status === 0 || error.status === 429 || error.status >= 502);
}

/** The session has ended; where its cookie is gone as well, the server sees a request without any token. */
export function isSignedOut(error: unknown): error is ApiError {
  if (!(error instanceof ApiError)) return false;
  return error.status === 401 || (error.status === 403 && error.message === 'Missing token');
}

interface Issue {
  loc?: (string | number)[];
  msg?: string;
}

/** `[CODE]: text` of the documents' side. */
const CODED = /^\[([A-Z_]+)\]: ([^]*)$/;

function readDetail(detail: unknown): { code: string | null; message: string } | null {
  if (typeof detail === 'string') {
    const [, code, message] = CODED.exec(detail) ?? [];
    return { code: code ?? null, message: message ?? detail };
  }
  if (!Array.isArray(detail)) return null;
  const texts = (detail as Issue[]).map(({ loc, msg }) => `${(loc ?? []).slice(1).join('.')}: ${msg ?? ''}`);
  return { code: 'VALIDATION_ERROR', message: texts.join('; ') };
}

/** The error of either side of the gateway, or of a proxy before it that answered no JSON. */
export function errorOf(status: number, text: string, headers: Headers): ApiError {
  const wait = Number(headers.get('Retry-After'));
  const retryAfter = Number.isFinite(wait) && wait > 0 ? wait : null;
  try {
    const body = JSON.parse(text) as { detail?: unknown; error?: unknown; extra?: Record<string, unknown> };
    const said = readDetail(body.detail) ?? readDetail(body.error);
    if (said !== null) return new ApiError(status, said.code, said.message, retryAfter, body.extra);
  } catch {
    // No JSON: the status has to do.
  }
  return new ApiError(status, null, '', retryAfter);
}
