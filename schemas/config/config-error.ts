/** The exit code of a process whose configuration cannot be used (sysexits.h: EX_CONFIG). */
export const EX_CONFIG = 78;

/** The configuration cannot be used; the message names what is wrong, and holds no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
