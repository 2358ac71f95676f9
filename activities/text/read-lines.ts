import { StringDecoder } from 'node:string_decoder';

/**
 * The lines of UTF-8, split at `\n` alone. The line reader of newer Node also splits at U+2028 and U+2029, which JSON
 * may hold as they are.
 */
export async function* readLines(source: AsyncIterable<Buffer | string>): AsyncGenerator<string> {
  const decoder = new StringDecoder('utf8');
  let open: string[] = [];
  for await (const bytes of source) {
    const [first = '', ...more] = (typeof bytes === 'string' ? bytes : decoder.write(bytes)).split('\n');
    open.push(first);
    for (const next of more) {
      yield open.join('');
      open = [next];
    }
  }
  const last = open.join('') + decoder.end();
  if (last !== '') yield last;
}
