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
  /^(?:-{2,}\s*(?:original message|message d'origine|message d’origine|ursprüngliche nachricht|mensaje original|forwarded message)\s*-{2,})\s*$/iu;
/** A line that Outlook draws above the head of such a mail, and that many others draw between parts of their text. */
const RULE = /^_{20,}$/;
/** Bold in mails of HTML. */
const FROM = /^\**(?:from|de|von|da|van|från)\s*:/iu;
const SENT = /^\**(?:sent|date|envoyé|gesendet|datum|enviado|inviato|verzonden|skickat)\s*:/iu;
/** Makes the head of a mail of lines that bookings and requests have too: from where, to where and when. */
const SUBJECT = /^\**(?:subject|objet|betreff|asunto|assunto|oggetto|onderwerp|ämne)\s*:/iu;
/** Lines with text, from the sender's on, among which the date stands. */
const DATE_WITHIN = 5;
/** Such lines among which the subject stands, before the date or behind it and those that it was sent to. */
const SUBJECT_WITHIN = 10;
/** Lines that are looked at, blank ones as well: each line of a mail may be one that a head begins with. */
const LINES_LOOKED_AT = 20;

/**
 * Whether the head of an earlier mail stands here, as Outlook repeats it: who sent it, when, to whom, and, where no
 * line divides it from what is above, about what.
 */
function isHeadOfMail(lines: readonly string[], from: number, divided: boolean): boolean {
  const head: string[] = [];
  const end = Math.min(lines.length, from + LINES_LOOKED_AT);
  for (let at = from; at < end && head.length < SUBJECT_WITHIN; at++) {
    const line = lines[at]!.trim();
    if (line === '') continue;
    if (head.length === 0 && !FROM.test(line)) return false;
    head.push(line);
  }
  const isDated = head.slice(1, DATE_WITHIN).some((line) => SENT.test(line));
  return isDated && (divided || head.some((line) => SUBJECT.test(line)));
}

/** Whether a line stands between what was written and a mail that is repeated as a whole. */
function isDividing(lines: readonly string[], at: number): boolean {
  const line = lines[at]!.trim();
  return WHOLE.test(line) || (RULE.test(line) && isHeadOfMail(lines, at + 1, true));
}

/** Whether the next line that says something is a quotation; otherwise the line before is something that was said. */
function isQuoted(lines: readonly string[], from: number): boolean {
  for (let at = from; at < lines.length; at++)
    if (lines[at]!.trim() !== '') return /^\s{0,3}>/.test(lines[at]!);
  return false;
}

/** Programs break such a line where it is long. */
function attributionAt(lines: readonly string[], at: number): { text: string; lines: number } | null {
  let text = '';
  for (const [index, line] of lines.slice(at, at + 2).entries()) {
    text = `${text} ${line.trim()}`.trim();
    if (text.length > 500) return null;
    if (ATTRIBUTION.test(text) && isQuoted(lines, at + index + 1))
      return { text: text.endsWith(':') ? text.slice(0, -1).trimEnd() : text, lines: index + 1 };
  }
  return null;
}

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
  let whole = false;
  const lines = text.split('\n');
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    const mark = /^\s{0,3}(?:>\s?)+/.exec(line);
    const plain = line.trim();
    if (mark === null && isDividing(lines, at)) {
      whole = true;
      start(true, '');
      continue;
    }
    if (mark === null && !whole && plain !== '' && isHeadOfMail(lines, at, false)) {
      whole = true;
      start(true, plain.replaceAll('*', '').trim());
    }
    const said = mark === null ? attributionAt(lines, at) : null;
    if (said !== null) {
      start(true, said.text);
      at += said.lines - 1;
      continue;
    }
    const quoted = whole || mark !== null;
    if (quoted !== open.quoted && plain !== '') start(quoted, '');
    open.text += `${mark === null ? line : line.slice(mark[0].length)}\n`;
  }
  start(false, '');
  return parts.map((part) => ({ ...part, text: part.text.trim() })).filter((part) => part.text !== '');
}
