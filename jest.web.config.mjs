import base from './jest.config.mjs';

/** `npm run test:web`: the console in a browser; CHROMIUM names the browser, CONSOLE_DIR what was built. */
export default {
  ...base,
  testMatch: ['<rootDir>/test/web/**/*.web.ts'],
  maxWorkers: 1,
  // a step that does not come to pass says so within a minute; whole scenarios take as long as the machine needs
  testTimeout: 300_000,
  // what a failed scenario leaves open must not keep the run from ending
  forceExit: true,
};
