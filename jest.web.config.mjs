import base from './jest.config.mjs';

/** `npm run test:web`: the console in a browser; CHROMIUM names the browser, CONSOLE_DIR what was built. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/web/**/*.web.ts'],
  maxWorkers: 1,
};
