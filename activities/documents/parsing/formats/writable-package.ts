// @ts-expect-error -- the package has no types for it
import { openArrayBuffer } from 'mammoth/lib/zipfile.js';

/** A package in memory, whose parts are rewritten in front of a reader. */
export interface WritablePackage {
  exists(name: string): boolean;
  read(name: string, encoding: 'utf-8'): Promise<string>;
  write(name: string, content: string): void;
  toArrayBuffer(): Promise<ArrayBuffer>;
}

export function openPackage(bytes: Buffer): Promise<WritablePackage> {
  return (openArrayBuffer as (bytes: Buffer) => Promise<WritablePackage>)(bytes);
}
