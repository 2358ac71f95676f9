import type { ChatMessage, LanguageModel } from '../../ports/models.js';
import { isBuiltin } from '../../models/builtin/builtin-endpoints.js';
import { waitsUntilAbort } from './aborts.js';

/** The built-in model quotes; it cannot follow instructions, so it is given none. */
export function followsInstructions(model: Pick<LanguageModel, 'modelName'>): boolean {
  return !isBuiltin(model);
}

/**
 * One short answer on the way to another; null when the model fails or takes too long. A step that is a help and not
 * a condition must cost neither an error nor a long wait.
 *
 * @param options.onFailure told of what the model failed with
 * @throws the signal's reason when the caller itself gives up
 */
export async function askBriefly(
  model: LanguageModel,
  messages: readonly ChatMessage[],
  options: { maxTokens: number; withinMs: number; signal: AbortSignal; onFailure?: (error: unknown) => void },
): Promise<string | null> {
  const { maxTokens, withinMs, signal } = options;
  if (withinMs <= 0) return null;
  const either = AbortSignal.any([signal, AbortSignal.timeout(Math.ceil(withinMs))]);
  const waits = waitsUntilAbort(either);
  try {
    const asked = model.complete(messages, { temperature: 0, maxTokens, signal: either });
    // A model that does not heed the signal is not waited for.
    return (await waits.orAbort(asked)).content;
  } catch (error) {
    signal.throwIfAborted();
    options.onFailure?.(error);
    return null;
  } finally {
    waits.dispose();
  }
}
