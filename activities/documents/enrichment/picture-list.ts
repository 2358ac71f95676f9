import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import type { BlobStore } from '../../ports/files.js';
import { textParts } from './text-parts.js';
import type { Owner } from './text-parts.js';

/** Descriptions of so many pictures are put down together: what a crash costs is at most these. */
export const DESCRIPTIONS_PER_PART = 8;

const descriptions = textParts('descriptions');

export const { write: writeDescriptions } = descriptions;

/** The ticket of one picture of a document, from 0. */
const pictureBlobId = (taskId: string, picture: number): string => `${taskId}.picture.${picture}`;

export const countDescriptionParts = (pictures: number): number =>
  Math.ceil(pictures / DESCRIPTIONS_PER_PART);

/** Repeating it writes the same picture again. */
export const writePicture = async (
  blobs: Pick<BlobStore, 'write' | 'remove'>,
  { taskId, fileKey, generation }: Owner,
  picture: number,
  source: Readable,
  signal: AbortSignal,
): Promise<void> => {
  const blobId = pictureBlobId(taskId, picture);
  await blobs.remove(blobId);
  await blobs.write({ blobId, kind: 'chunks', taskId, fileKey, generation }, source, signal);
};

export const readPicture = async (
  blobs: Pick<BlobStore, 'read'>,
  taskId: string,
  picture: number,
): Promise<Buffer> => buffer(await blobs.read(pictureBlobId(taskId, picture)));

/** Once described, or given up, they are of no more use. */
export const removePictures = async (
  blobs: Pick<BlobStore, 'remove'>,
  taskId: string,
  pictures: number,
): Promise<void> => {
  for (let picture = 0; picture < pictures; picture += 1) await blobs.remove(pictureBlobId(taskId, picture));
};

/** What has been said of a document's pictures so far, by their numbers; nothing when there are none. */
export const readDescriptions = async (
  blobs: Pick<BlobStore, 'read' | 'info'>,
  taskId: string,
): Promise<(string | null)[]> => {
  const said: (string | null)[] = [];
  const parts = await descriptions.count(blobs, taskId);
  for (let part = 0; part < parts; part += 1) said.push(...(await descriptions.read(blobs, taskId, part)));
  return said;
};

export const removeDescriptions = (
  blobs: Pick<BlobStore, 'remove'>,
  taskId: string,
  pictures: number,
): Promise<void> => descriptions.remove(blobs, taskId, countDescriptionParts(pictures));
