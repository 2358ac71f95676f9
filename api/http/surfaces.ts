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

interface Issue {
  loc: (string | number)[];
  msg: string;
}

function firstIssueOf(error: AppError): Issue | undefined {
  const issues = error.code === 'VALIDATION_ERROR' ? error.details['issues'] : undefined;
  return Array.isArray(issues) ? (issues[0] as Issue | undefined) : undefined;
}

const RATE_LIMITED_TEXT = 'Rate limit exceeded. Please retry later.';

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
      return { ...rendered({ detail: RATE_LIMITED_TEXT, extra: {} }), headers };
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

/** What is wrong, in one sentence. */
function sentenceOf(error: AppError): string {
  if (error.code === 'RATE_LIMITED') return RATE_LIMITED_TEXT;
  const issue = firstIssueOf(error);
  return issue === undefined ? error.message : `${issue.loc.join('.')}: ${issue.msg}`;
}

/**
 * Under `/v1` the same, and beside it what clients of the OpenAI format read: of a body in JSON the official one for
 * JavaScript tells its caller nothing but `error`. It has the shape of an error inside a stream (section 1.1).
 */
const openAi: Surface = {
  ...documents,
  renderError(error, requestId) {
    const { body, ...rendered } = documents.renderError(error, requestId);
    const told = { message: sentenceOf(error), type: 'error', param: null, code: error.code };
    return { ...rendered, body: { ...(body as object), error: told } };
  },
};

/** The first issue, as the peer service words it: `querystring/limit must be >= 1` (wire contract, 1.3). */
function firstIssue(error: AppError): string | null {
  const issue = firstIssueOf(error);
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
    const issue = firstIssue(error);
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

/**
 * Load balancers ask these every few seconds, under whatever name they have for us; a refusal would take the gateway
 * out of service, and the answers hold no data.
 */
export function isProbe(path: string): boolean {
  return /^\/(health_check|ready)\/?$/.test(path);
}

/** Whether a path of the documents is for clients of the OpenAI format. */
export function isOpenAiPath(path: string): boolean {
  return /^\/v1(\/|$)/i.test(path);
}

/** Which dialect a path speaks: the two of the proxy by their first step, the documents' everywhere else. */
export function surfaceOf(path: string): Surface {
  // A local API server's own path for usage metrics, although `/v1` otherwise belongs to the documents.
  if (/^\/v[23](\/|$)/.test(path) || path === '/v1/usage-metrics') return relay;
  if (/^\/(api|health)(\/|$)/.test(path)) return management;
  return isOpenAiPath(path) ? openAi : documents;
}
