/** A part of a mail: what its writer said, or what it repeats of an earlier one. */
export interface MailPart {
  quoted: boolean;
  /** Who is quoted, as the mail says it. */
  attribution: string;
  text: string;
}

/** "On 3 May, Ada wrote:" as mail programs write it in several languages. */
const ATTRIBUTION =
  /^(?:on|le|am|el|il|op|em|den)\b.{4,300}\b(?:wrote|a écrit|schrieb.{0,100}|escribió|ha scritto|schreef.{0,100}|escreveu|skrev.{0,100})\s*:\s*$/iu;
/** What Outlook puts above the mail that it repeats as a whole. */
const WHOLE =
  /^(?:-{2,}\s*(?:original message|message d'origine|message d’origine|ursprüngliche nachricht|mensaje original|forwarded message)\s*-{2,}|_{20,})\s*$/iu;

/**
 * The text of a mail in its parts: lines with `>` and what stands behind a mail program's own line are of earlier
 * mails. Signs of quotation are left out.
 */
export function splitQuotes(text: string): MailPart[] {
  const parts: MailPart[] = [];
  let open: MailPart = { quoted: false, attribution: '', text: '' };
  const start = (quoted: boolean, attribution: string): void => {
    if (open.text.trim() !== '') parts.push(open);
    open = { quoted, attribution, text: '' };
  };
  let attribution = '';
  let whole = false;
  for (const line of text.split('\n')) {
    const mark = /^\s{0,3}(?:>\s?)+/.exec(line);
    const plain = line.trim();
    if (mark === null && WHOLE.test(plain)) {
      whole = true;
      start(true, '');
      continue;
    }
    if (mark === null && ATTRIBUTION.test(plain)) {
      attribution = plain.replace(/\s*:$/, '');
      continue;
    }
    const quoted = whole || mark !== null;
    if (quoted !== open.quoted && plain !== '') start(quoted, quoted ? attribution : '');
    open.text += `${mark === null ? line : line.slice(mark[0].length)}\n`;
  }
  start(false, '');
  // An attribution without a quotation is something that was said.
  const last = parts.at(-1);
  if (attribution !== '' && !parts.some((part) => part.attribution === attribution)) {
    if (last !== undefined && !last.quoted) last.text += `${attribution}:\n`;
    else parts.push({ quoted: false, attribution: '', text: `${attribution}:` });
  }
  return parts.map((part) => ({ ...part, text: part.text.trim() })).filter((part) => part.text !== '');
}
