import type { AppError } from '../../schemas/app-error.js';

/** An error as one HTTP dialect writes it. */
export interface RenderedError {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

/** The form of errors and answers of one surface. The differences between dialects are in this file alone. */
export interface Surface {
  name: string;
  /** Whether a query parameter that is given twice is an error; otherwise the last one counts. */
  refusesRepeats: boolean;
  renderError(error: AppError, requestId: string | undefined): RenderedError;
}

function retryAfter(error: AppError): Record<string, string> {
  return error.retryAfterMs === undefined
    ? {}
    : { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))) };
}

/**
 * Documents: `{"detail": text}` for what a route's guard says, `{"detail": "[CODE]: text", "extra": {…}}` for
 * domain errors, a list of issues for an invalid request (wire contract, section 1.1).
 */
const documents: Surface = {
  name: 'documents',
  refusesRepeats: false,
  renderError(error, requestId) {
    const rendered = (body: unknown): RenderedError => ({
      status: error.status,
      headers: retryAfter(error),
      body,
    });
    if (error.code === 'RATE_LIMITED') {
      const headers = { 'Retry-After': '1', ...retryAfter(error) };
      return { ...rendered({ detail: 'Rate limit exceeded. Please retry later.', extra: {} }), headers };
    }
    if (error.code === 'VALIDATION_ERROR' && Array.isArray(error.details['issues']))
      return rendered({ detail: error.details['issues'] });
    if (error.plain) return rendered({ detail: error.message });
    return rendered({
      detail: `[${error.code}]: ${error.message}`,
      extra: { ...error.details, ...(requestId === undefined ? {} : { request_id: requestId }) },
    });
  },
};

interface Issue {
  loc: (string | number)[];
  msg: string;
}

/** The first issue, as the peer service words it: `querystring/limit must be >= 1` (wire contract, 1.3). */
function firstIssue(error: AppError): string | null {
  const issues = error.details['issues'];
  const issue = Array.isArray(issues) ? (issues[0] as Issue | undefined) : undefined;
  if (issue === undefined) return null;
  const [place, ...pointer] = issue.loc;
  const where = place === 'path' ? 'params' : place === 'query' ? 'querystring' : String(place);
  return `${[where, ...pointer].join('/')} ${issue.msg}`;
}

/** Dashboards: one string under `error`, nothing else (proxy seed, "Errors"). An invalid request is a 400. */
const management: Surface = {
  name: 'proxy management',
  refusesRepeats: true,
  renderError(error) {
    const issue = error.code === 'VALIDATION_ERROR' ? firstIssue(error) : null;
    return {
      status: issue === null ? error.status : 400,
      headers: retryAfter(error),
      body: { error: issue ?? error.message },
    };
  },
};

/**
 * Local API servers: what the peer service puts under `error`, and beside it the `message` that the client logs
 * (wire contract, 1.1 and 6.4).
 */
const relay: Surface = {
  name: 'proxy relay',
  refusesRepeats: false,
  renderError(error) {
    const text = error.code === 'UNEXPECTED_ERROR' ? 'Internal Server Error' : error.message;
    const { message } = error.details;
    return {
      status: error.status,
      headers: retryAfter(error),
      body: { error: text, message: typeof message === 'string' ? message : text },
    };
  },
};

/** Which dialect a path speaks: the two of the proxy by their first step, the documents' everywhere else. */
export function surfaceOf(path: string): Surface {
  // A local API server's own path for usage metrics, although `/v1` otherwise belongs to the documents.
  if (/^\/v[23](\/|$)/.test(path) || path === '/v1/usage-metrics') return relay;
  return /^\/(api|health)(\/|$)/.test(path) ? management : documents;
}
