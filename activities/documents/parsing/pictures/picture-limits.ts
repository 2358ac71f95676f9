const MIB = 1024 * 1024;

/** What the pictures of one document may cost. What goes beyond is left out and counted; it is never an error. */
export interface PictureLimits {
  /** Different pictures of a document. */
  maxPictures: number;
  /** Of one picture, as it is stored. */
  maxBytes: number;
  /** Of all pictures of a document together. */
  maxTotalBytes: number;
  /** Width times height: a small file may decode to any size in the model server. */
  maxPixels: number;
  /** What is narrower or lower is taken for decoration. */
  minSide: number;
}

export const defaultPictureLimits: Readonly<PictureLimits> = Object.freeze({
  maxPictures: 100,
  maxBytes: 8 * MIB,
  maxTotalBytes: 64 * MIB,
  maxPixels: 40_000_000,
  minSide: 32,
});
