/** What a parser finds out about a document beside its text; it goes into the parse report. */
export interface ParseNotes {
  /** Something that a reader should know and that lost no more than a detail. */
  warn(message: string): void;
  /** Content was lost: the document is indexed without it. */
  degrade(reason: string): void;
  /** Characters that were read and left out. */
  drop(characters: number): void;
  /** Characters that readers of the document do not see, left out for that. */
  hide(characters: number): void;
  /** Pages whose text came from OCR, and how sure of it that was, 0 to 1. */
  recognise(confidence: number): void;
  /** Pictures that were not asked for. */
  passPictures(count: number): void;
  readonly warnings: readonly string[];
  readonly reasons: readonly string[];
  readonly dropped: number;
  readonly ocrPages: number;
  readonly ocrConfidence: number | null;
  readonly picturesPassed: number;
}

/** A model would read what people do not see, so that such text can carry instructions for it. */
const HIDDEN_TEXT = 'Text that readers do not see was left out.';

/** A document of many thousand pages may repeat itself. */
const MAX_NOTES = 20;

export function createParseNotes(): ParseNotes {
  const warnings: string[] = [];
  const reasons: string[] = [];
  const confidences = { count: 0, sum: 0 };
  let dropped = 0;
  let picturesPassed = 0;
  const add = (list: string[], message: string): void => {
    if (list.length < MAX_NOTES && !list.includes(message)) list.push(message);
  };
  return {
    warn: (message) => add(warnings, message),
    degrade: (reason) => add(reasons, reason),
    drop: (characters) => void (dropped += characters),
    hide(characters) {
      if (characters === 0) return;
      dropped += characters;
      add(warnings, HIDDEN_TEXT);
    },
    recognise(confidence) {
      confidences.count += 1;
      confidences.sum += confidence;
    },
    passPictures: (count) => void (picturesPassed += count),
    warnings,
    reasons,
    get dropped() {
      return dropped;
    },
    get ocrPages() {
      return confidences.count;
    },
    get ocrConfidence() {
      return confidences.count === 0 ? null : confidences.sum / confidences.count;
    },
    get picturesPassed() {
      return picturesPassed;
    },
  };
}
