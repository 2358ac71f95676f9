import base from './jest.config.mjs';

/** `npm run test:fuzz`: generated requests by the OpenAPI document; TAMIS_PYTHON and TAMIS_FUZZ_PACKAGES name the tool. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/fuzz/**/*.fuzz.ts'],
  testTimeout: 60 * 60_000,
  maxWorkers: 1,
};
