import { availableParallelism } from 'node:os';

export default {
  testEnvironment: 'node',
  // Real servers on a busy machine of two cores; speed is measured in test/bench, not here.
  testTimeout: 60_000,
  // Jest would leave one core unused; more than a few suites at once would wait for the same engines. Modules of
  // finished suites are never let go of (their VM contexts stay): some 25 MB each. A worker that has grown so far is
  // replaced, also where there is only one; in one process the suites together exceed Node's heap.
  workerIdleMemoryLimit: '1GB',
  maxWorkers: Math.min(4, Math.max(2, availableParallelism())),
  testSequencer: '<rootDir>/test/longest-first-sequencer.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: {
    '^.+\\.ts$': [
      '@swc/jest',
      {
        jsc: { target: 'es2022', parser: { syntax: 'typescript', decorators: true } },
        module: { type: 'es6' },
      },
    ],
  },
  testMatch: ['<rootDir>/test/**/*.test.ts'],
  modulePathIgnorePatterns: ['<rootDir>/.local/', '<rootDir>/dist/'],
};
