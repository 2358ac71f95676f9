/**
 * Options of Node for gateway and worker; the image has the same ones (`deploy/Dockerfile`). New objects get 4 MiB for
 * each of the two halves instead of 16, in every thread: an idle gateway and worker hold a fifth less.
 */
export const NODE_FLAGS: readonly string[] = ['--enable-source-maps', '--max-semi-space-size=4'];

/** glibc would keep an arena for each thread, up to eight a core, and give little of them back. */
export const MALLOC_SETTINGS: Readonly<Record<string, string>> = { MALLOC_ARENA_MAX: '2' };
