/**
 * A code such as TX-409, CVE-2024-3094 or B12 is one name. A group of thousands follows one to three digits that begin
 * with no zero: `0.125` and "in 2020 300 people" have none. 9:15, 9h15 and 9.15 am are a time, "2 h 30 min" is none.
 * A minus stands behind no letter and no other number. "No. 12" names a number.
 */
export const PIECE =
  /(?<date>(?<![\p{N}/.])\p{N}{1,2}[/.]\p{N}{1,2}[/.]\p{N}{4}(?![\p{N}/.]\p{N}))|(?<time>(?<![\p{N}:.,/])\p{N}{1,2}(?::[0-5]\p{N}(?::[0-5]\p{N})?(?![\p{N}:]|[.,]\p{N})|\s?[hH]\s?[0-5]\p{N}(?!\p{N}|\s?min|[.,]\p{N})|\.[0-5]\p{N}(?=\s?(?:[AaPp]\.?[Mm]|Uhr)(?!\p{L}))))|(?<code>\p{L}{1,8}-?\p{N}[\p{L}\p{N}-]{0,30})|(?<minus>(?<![\p{L}\p{N}%°)]|\p{N}\s)[-−–](?=[€$£¥]?\.?\p{N})|(?<!\p{L})(?:[Mm]inus|(?<!(?:[Aa]u|[Dd]u)\s)[Mm]oins)\s(?=\p{N}))|(?<number>(?:[1-9]\p{N}{0,2}(?:[.,'’\u00A0\u202F ]\p{N}{3}(?!\p{N})){1,6}|\p{N}{1,20})(?:[.,]\p{N}{1,12})?|(?<![\p{L}\p{N}.])\.\p{N}{1,12})|(?<label>№|(?<!\p{L})(?:[Nn][°º]|[Nn]os?\.)(?=\s?\p{N})|(?<=\p{L}\s)(?:N[Oo]|no)(?=\s\p{N}))|(?<sign>°\s?[CFK](?!\p{L})|[%°]|(?:[Pp]er|[Pp]our)\s?cent(?!\p{L})|[Pp]ourcent(?!\p{L})|(?<=\p{N}\s?)[AaPp](?:\.\s?[Mm]\.|[Mm](?!\p{L})))|(?<word>\p{L}[\p{L}\p{M}]{0,60})|(?<stop>[,;:()–—.!?\n])|(?<currency>[€$£¥])|(?<slash>\/)/gu;

/** Folded words behind which "no 12" names a number as well; elsewhere it denies, as "no 5 GHz" does. */
const NUMBERED: ReadonlySet<string> = new Set(
  ['article bus case chapter commande contract contrat dossier facture figure file flight invoice item']
    .concat('law ligne line lot lots order page room rule section table ticket train')
    .flatMap((words) => words.split(' ')),
);

/** @param before the folded word before the label */
export function isLabel(label: string, before: string): boolean {
  return label !== 'no' || NUMBERED.has(before);
}
