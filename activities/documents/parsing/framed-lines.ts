import { hardCut } from './hard-cut.js';
import { countTokens } from '../../text/token-count.js';

interface Frame {
  /** Repeated before every fragment: the header rows of a table, the opening fence of code. */
  head: string;
  lines: string[];
  tail: string;
}

const DELIMITER_ROW = /^(?=[^-]*-)[\s:|-]+$/;
const FENCE = /^\s*(`{3,}|~{3,})/;

/** Cuts a Markdown table or a fenced block between lines into texts of at most `limit` tokens, each complete again. */
export function* cutFramedLines(text: string, limit: number): Generator<string> {
  const frame = findFrame(text);
  // A header that fills half of a fragment is not worth repeating.
  const repeated = countTokens(frame.head + frame.tail) <= limit / 2;
  const head = repeated ? frame.head : '';
  const tail = repeated ? frame.tail : '';
  const lines = repeated ? frame.lines : text.split('\n');
  // Tokens of joined lines are hardly ever more than the sum; the margin covers the joints.
  const room = limit - countTokens(head) - countTokens(tail) - 4;

  let open: string[] = [];
  let used = 0;
  for (const line of lines) {
    const tokens = countTokens(line) + 1;
    if (open.length > 0 && used + tokens > room) {
      yield head + open.join('\n') + tail;
      open = [];
      used = 0;
    }
    if (tokens > room) {
      for (const fragment of hardCut(line, room)) yield head + fragment.trim() + tail;
    } else {
      open.push(line);
      used += tokens;
    }
  }
  if (open.length > 0) yield head + open.join('\n') + tail;
}

function findFrame(text: string): Frame {
  const lines = text.split('\n');
  const fence = FENCE.exec(lines[0]!)?.[1];
  if (fence !== undefined && lines.length > 2) {
    const closed = lines.at(-1)!.trim().startsWith(fence);
    return {
      head: `${lines[0]}\n`,
      lines: lines.slice(1, closed ? -1 : undefined),
      tail: `\n${fence}`,
    };
  }
  if (lines.length > 2 && DELIMITER_ROW.test(lines[1]!)) {
    return { head: `${lines[0]}\n${lines[1]}\n`, lines: lines.slice(2), tail: '' };
  }
  return { head: '', lines, tail: '' };
}
