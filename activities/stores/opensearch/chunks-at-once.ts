/**
 * How many chunks a request to copy or delete may concern. The engine adds a header of some 220 bytes to its answer for
 * each thousand, and neither Node nor a proxy before the engine takes headers without a limit.
 */
export const CHUNKS_AT_ONCE = 10_000;
