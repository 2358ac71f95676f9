/** Where the files of a model are; all of them inside the folder of models. */
export interface ModelPaths {
  name: string;
  model: string;
  tokenizer: string;
  config: string;
  /** Null: the model brings none. */
  tokenizerConfig: string | null;
}

/** One call: the scores of these texts. */
export interface ScoreJob {
  kind: 'score';
  id: number;
  query: string;
  texts: readonly string[];
}

export type ToThread = ScoreJob | { kind: 'cancel'; id: number };

export type FromThread =
  | { kind: 'ready' }
  /** It cannot be loaded, now or later, while its files stay as they are. */
  | { kind: 'unusable'; problem: string }
  | { kind: 'scores'; id: number; scores: number[] }
  | { kind: 'failed'; id: number; problem: string }
  | { kind: 'cancelled'; id: number };
