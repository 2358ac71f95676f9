/** The body of an error under `/v1`: `detail`, and beside it what clients of the OpenAI format read. */
export function openAiError(code: string, message: unknown, detail: unknown = message): object {
  return { detail, error: { message, type: 'error', param: null, code } };
}
