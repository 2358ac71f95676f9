import { stringify } from 'lossless-json';

/** JSON text in which a bigint is written as its digits: integers beyond a double's reach come back unchanged. */
export const losslessBody = (value: unknown): string => stringify(value) ?? 'null';
