/** A JSON body whose shape the test itself asserts. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- reading `unknown` field by field would hide the test
export type LooseBody = any;
