/** What OCR makes of a picture. */
export interface Recognised {
  text: string;
  /** Mean of the words, 0 to 1. */
  confidence: number;
  /** It was read as it is stored, although its EXIF says that it is turned or mirrored. */
  unturned?: boolean;
}
