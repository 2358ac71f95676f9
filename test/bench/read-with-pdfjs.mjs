// The text of every page by pdf.js and nothing else: what `bench:parse` compares with where there is no pdftotext.
import { readFile } from 'node:fs/promises';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';

const task = getDocument({ data: new Uint8Array(await readFile(process.argv[2])), verbosity: 0 });
const document = await task.promise;
let characters = 0;
for (let number = 1; number <= document.numPages; number += 1) {
  const page = await document.getPage(number);
  const { items } = await page.getTextContent();
  for (const item of items) characters += item.str?.length ?? 0;
  page.cleanup();
}
await task.destroy();
if (characters === 0) process.exitCode = 1;
