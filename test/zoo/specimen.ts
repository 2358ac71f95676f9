import type { ErrorCode } from '../../schemas/error-table.js';

/** A file of the zoo: how it is made, and what must come of it. */
export interface Specimen {
  /** Its extension says how it is uploaded, whatever it holds. Unique. */
  name: string;
  bytes(): Buffer | string | Promise<Buffer | string>;
  expected: Found | { code: ErrorCode };
  /** Its parser needs OCR, which takes seconds. */
  ocr?: true;
  /** Takes long or much memory: only in `npm run test:scale`. */
  huge?: true;
  /** The reference reader breaks words of it: its line of the table is printed, and asks for nothing. */
  misread?: true;
  /** Read by LibreOffice, where it is installed. */
  libreOffice?: true;
}

export interface Found {
  /** Each is a passage of the text, white space aside: a search for its words must find the file. */
  finds: string[];
  /** Must not be in the text. */
  not?: string[];
  /** Content was lost, and the report says so. */
  degraded?: true;
  /** What comes of it depends on the version of a program: this is right as well. */
  or?: ErrorCode;
}

/** Scripts that readers confuse: right-to-left, CJK, accents, characters beyond U+FFFF. */
export const SCRIPTS = {
  hebrew: 'טחנת המים על הנהר',
  arabic: 'طاحونة المياه القديمة',
  japanese: '水車小屋は九時に開きます',
  chinese: '水磨坊在河边',
  korean: '물레방아는 강가에 있다',
  accents: 'Zoé naïve façade Größe Łódź',
  emoji: 'wheel 🏭🌊👩‍🔧 turns 𝔸𝕓',
};
export const ALL_SCRIPTS = Object.values(SCRIPTS);

/** The first part of some bytes, as a broken upload leaves it. */
export function cut(bytes: Buffer | string, share: number): Buffer {
  const buffer = Buffer.from(bytes);
  return buffer.subarray(0, Math.floor(buffer.length * share));
}
