/** Answers worth keeping for a while. Losing one costs a question asked again, and nothing else. */
export interface Cache {
  get(key: string): Promise<string | null>;
  set(key: string, value: string, ttlMs: number): Promise<void>;
}
