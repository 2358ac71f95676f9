/** What the command line ends with. */
export const EXIT = {
  ok: 0,
  failed: 1,
  wrongUse: 2,
  unreachable: 3,
  refused: 4,
  /** As shells say of what Ctrl-C ended. */
  interrupted: 130,
} as const;

/** Ends a command with a sentence for people and a code for scripts. */
export class CliFailure extends Error {
  override readonly name = 'CliFailure';

  constructor(
    readonly exitCode: (typeof EXIT)[keyof typeof EXIT],
    message: string,
    /** Of the gateway's answer. */
    readonly status: number | null = null,
  ) {
    super(message);
  }
}
