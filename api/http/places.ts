import { AppError } from '../../schemas/app-error.js';

const COME_AGAIN_MS = 5000;

/** Places for so many at once in this gateway, and for so many of one caller. */
export function createPlaces(most: number, mostOfCaller: number, refusal: string) {
  const held = new Map<number, number>();
  let all = 0;
  return {
    /** @throws AppError SERVICE_UNAVAILABLE */
    take(userId: number): () => void {
      const own = held.get(userId) ?? 0;
      if (all >= most || own >= mostOfCaller)
        throw new AppError('SERVICE_UNAVAILABLE', refusal, { retryAfterMs: COME_AGAIN_MS });
      all += 1;
      held.set(userId, own + 1);
      return () => {
        all -= 1;
        const left = (held.get(userId) ?? 1) - 1;
        if (left > 0) held.set(userId, left);
        else held.delete(userId);
      };
    },
  };
}
