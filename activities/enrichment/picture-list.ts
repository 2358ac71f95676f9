import { buffer, text } from 'node:stream/consumers';
import { Readable } from 'node:stream';
import type { BlobStore } from '../file-ports.js';

/** Descriptions of so many pictures are put down together: what a crash costs is at most these. */
export const DESCRIPTIONS_PER_PART = 8;

type Owner = { taskId: string; fileKey: string; generation: number };

/** The ticket of one picture of a document, from 0. */
const pictureBlobId = (taskId: string, picture: number): string => `${taskId}.picture.${picture}`;

/** The ticket of a part of a document's descriptions: a JSON array of texts, null where there is none. */
const descriptionsBlobId = (taskId: string, part: number): string => `${taskId}.descriptions.${part}`;

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

export const writeDescriptions = async (
  blobs: Pick<BlobStore, 'write'>,
  { taskId, fileKey, generation }: Owner,
  part: number,
  descriptions: readonly (string | null)[],
  signal: AbortSignal,
): Promise<void> => {
  await blobs.write(
    { blobId: descriptionsBlobId(taskId, part), kind: 'chunks', taskId, fileKey, generation },
    Readable.from([Buffer.from(JSON.stringify(descriptions))]),
    signal,
  );
};

/** What has been said of a document's pictures so far, by their numbers; nothing when there are none. */
export const readDescriptions = async (
  blobs: Pick<BlobStore, 'read' | 'info'>,
  taskId: string,
): Promise<(string | null)[]> => {
  const descriptions: (string | null)[] = [];
  for (let part = 0; (await blobs.info(descriptionsBlobId(taskId, part))) !== null; part += 1) {
    const written = await text(await blobs.read(descriptionsBlobId(taskId, part)));
    descriptions.push(...(JSON.parse(written) as (string | null)[]));
  }
  return descriptions;
};

export const removeDescriptions = async (
  blobs: Pick<BlobStore, 'remove'>,
  taskId: string,
  pictures: number,
): Promise<void> => {
  for (let part = 0; part < countDescriptionParts(pictures); part += 1)
    await blobs.remove(descriptionsBlobId(taskId, part));
};
