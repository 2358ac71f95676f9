import { countTokens } from '../../text/token-count.js';

/** What the chat format adds to each message, as the wire contract counts it (section 1.9, 413). */
export const TOKENS_PER_MESSAGE = 4;

/** Tokens (o200k) of chat messages, the overhead of each included. */
export const countMessageTokens = (messages: readonly { content: string }[]): number =>
  messages.reduce((sum, { content }) => sum + countTokens(content) + TOKENS_PER_MESSAGE, 0);
