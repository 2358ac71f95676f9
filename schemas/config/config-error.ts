/** The configuration cannot be used; the message names what is wrong, and holds no secret. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
