type Texts = Readonly<Record<string, string>>;

/**
 * What the server says in English, by keys that stay: codes of errors, names of migrations, schedules, phases, units.
 * A key without an entry is shown in the words of the server: for English they are good.
 */
export const server = {
  errors: {} as Texts,
  migrations: {} as Texts,
  pending: {} as Texts,
  schedules: {} as Texts,
  phases: {} as Texts,
  units: {} as Texts,
  figures: {} as Texts,
  references: {
    embedder: 'embedders',
    reranker: 'rerankers',
    llm: 'language models',
    vlm: 'picture models',
    stt: 'speech models',
    indexation_preset: 'indexing presets',
    retrieval_preset: 'search presets',
    prompt: 'prompts',
  } as Texts,
};
