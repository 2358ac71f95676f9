/**
 * Unpacks the Chromium of the npm package into the temporary folder, which is where that package puts everything:
 * `TMPDIR=<folder> unpack-chromium.mjs`. Taken for Amazon Linux it also unpacks the libraries that a machine without a
 * desktop may lack.
 */
process.env['AWS_EXECUTION_ENV'] ??= 'AWS_Lambda_nodejs20.x';
const { default: chromium } = await import('@sparticuz/chromium');
console.log(await chromium.executablePath());
