import { attributeChildren } from './search-attributes.js';

/** Instead of those beside it where payloads are encrypted: the codec does not reach attributes. */
export const interceptors = attributeChildren({ namesPartitions: false });
