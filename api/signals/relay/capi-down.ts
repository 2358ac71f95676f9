const NOT_IMPLEMENTED = 501;

/** Whether an answer means that CAPI, or what stands in front of it, is down: any 5xx but the one about the path. */
export const isDown = (status: number): boolean => status >= 500 && status !== NOT_IMPLEMENTED;
