import type { AppError } from '../schemas/app-error.js';

/** An error as one HTTP dialect writes it. */
export interface RenderedError {
  status: number;
  headers: Record<string, string>;
  body: unknown;
}

/** How a part of the gateway speaks of errors. The difference between dialects lives in this file alone. */
export interface Surface {
  name: string;
  renderError(error: AppError, requestId: string | undefined): RenderedError;
}

const retryAfter = (error: AppError): Record<string, string> =>
  error.retryAfterMs === undefined
    ? {}
    : { 'Retry-After': String(Math.max(1, Math.ceil(error.retryAfterMs / 1000))) };

/**
 * Documents: `{"detail": text}` for what a route's guard says, `{"detail": "[CODE]: text", "extra": {…}}` for
 * domain errors, a list of issues for an invalid request (wire contract, section 1.1).
 */
const documents: Surface = {
  name: 'documents',
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

/** Which dialect a path speaks. The proxy's prefixes join here; everything else is the document surface. */
export const surfaceOf = (_path: string): Surface => documents;
