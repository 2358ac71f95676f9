import base from './jest.config.mjs';

/**
 * The model contracts on a real Ollama: OLLAMA_HOST names it, and it has the models `all-minilm` and `smollm2`.
 * A busy machine without a graphics card says a few words a second.
 */
export default {
  ...base,
  testMatch: ['<rootDir>/test/ollama/**/*.ollama.ts'],
  testTimeout: 15 * 60_000,
  maxWorkers: 1,
};
