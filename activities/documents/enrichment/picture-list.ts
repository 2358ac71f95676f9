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
function pictureBlobId(taskId: string, picture: number): string {
  return `${taskId}.picture.${picture}`;
}

export function countDescriptionParts(pictures: number): number {
  return Math.ceil(pictures / DESCRIPTIONS_PER_PART);
}

/** Repeating it writes the same picture again. */
export async function writePicture(
  blobs: Pick<BlobStore, 'write' | 'remove'>,
  { taskId, fileKey, generation }: Owner,
  picture: number,
  source: Readable,
  signal: AbortSignal,
): Promise<void> {
  const blobId = pictureBlobId(taskId, picture);
  await blobs.remove(blobId);
  await blobs.write({ blobId, kind: 'chunks', taskId, fileKey, generation }, source, signal);
}

export async function readPicture(
  blobs: Pick<BlobStore, 'read'>,
  taskId: string,
  picture: number,
): Promise<Buffer> {
  return buffer(await blobs.read(pictureBlobId(taskId, picture)));
}

/** Once described, or given up, they are of no more use. */
export async function removePictures(
  blobs: Pick<BlobStore, 'remove'>,
  taskId: string,
  pictures: number,
): Promise<void> {
  for (let picture = 0; picture < pictures; picture += 1) await blobs.remove(pictureBlobId(taskId, picture));
}

/** What has been said of a document's pictures so far, by their numbers; nothing when there are none. */
export async function readDescriptions(
  blobs: Pick<BlobStore, 'read' | 'info'>,
  taskId: string,
): Promise<(string | null)[]> {
  const said: (string | null)[] = [];
  const parts = await descriptions.count(blobs, taskId);
  for (let part = 0; part < parts; part += 1) said.push(...(await descriptions.read(blobs, taskId, part)));
  return said;
}

export function removeDescriptions(
  blobs: Pick<BlobStore, 'remove'>,
  taskId: string,
  pictures: number,
): Promise<void> {
  return descriptions.remove(blobs, taskId, countDescriptionParts(pictures));
}
