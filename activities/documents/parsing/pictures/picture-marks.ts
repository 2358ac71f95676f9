import { randomBytes } from 'node:crypto';

/**
 * Marks that stand in a text where a picture was taken out of it. They carry a random name, so that no document can
 * write one.
 */
export interface PictureMarks {
  readonly name: string;
  of(picture: number): string;
}

export function createPictureMarks(): PictureMarks {
  const name = `tamis-picture-${randomBytes(12).toString('hex')}`;
  return { name, of: (picture) => `${name}:${picture}:` };
}
