/** Documents at addresses that clients name; see `adapters.ts` for the rules that hold for all ports. */
import type { Readable } from 'node:stream';

/** What an address answered; its bytes are on their way. */
export interface Download {
  /** What the answer calls the document, or else the last step of its address; may be empty. */
  name: string;
  /** As the answer says it; null when it says none. */
  mimetype: string | null;
  /** Bytes as announced; null when they are not. */
  size: number | null;
  /**
   * Ends in an error, of those that `open` throws, where it does not come whole, in time and within the limit. It must
   * be read or destroyed.
   */
  body: Readable;
}

export interface Downloads {
  /**
   * Asks for a document, following redirects; the time allowed is that of the whole download. Nothing is sent that
   * would tell who asks.
   * @throws AppError DOWNLOAD_REFUSED for an address that is not allowed, DOWNLOAD_FAILED when it gives no document,
   *   PAYLOAD_TOO_LARGE; the signal's reason
   */
  open(
    address: string,
    limits: { maxBytes: number; timeoutMs: number; signal: AbortSignal },
  ): Promise<Download>;
  close(): Promise<void>;
}
