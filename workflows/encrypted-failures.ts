import { DefaultFailureConverter } from '@temporalio/common';

/**
 * Part of the bundle where payloads are encrypted: message and trace of what a workflow throws become a payload, which
 * the codec of the worker then encrypts.
 */
export const failureConverter = new DefaultFailureConverter({ encodeCommonAttributes: true });
