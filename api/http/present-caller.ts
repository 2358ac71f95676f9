/** So often a stream asks whether its caller is still one. */
const ASK_EVERY_MS = 2_000;

/**
 * The caller of a stream, which may go on for hours, as of two seconds ago: who has lost the token, the session or the
 * right to it hears no more. The same object is answered until the caller is asked for anew.
 * @throws AppError as the admission of the request
 */
export function presentCaller<C extends { admitAnew(): Promise<object | null> }>(
  admitted: C,
): () => Promise<C> {
  let caller = admitted;
  let askedAt = Date.now();
  return async () => {
    if (Date.now() - askedAt < ASK_EVERY_MS) return caller;
    caller = { ...admitted, ...(await admitted.admitAnew()) };
    askedAt = Date.now();
    return caller;
  };
}
