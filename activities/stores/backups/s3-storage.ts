import {
  DeleteObjectCommand,
  GetObjectCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { AppError } from '../../../schemas/app-error.js';
import type { BackupStorage } from '../../ports/backups.js';

export interface S3Settings {
  bucket: string;
  /** In front of all names, without a slash at its end; empty: none. */
  prefix: string;
  /** Null: that of AWS for the region. */
  endpoint: string | null;
  region: string;
  /** Null: what the SDK finds, such as the role of the machine. */
  credentials: { accessKeyId: string; secretAccessKey: string } | null;
  /** The bucket in the path and not in the host's name, as most servers besides AWS want it. */
  pathStyle: boolean;
}

const ATTEMPTS = 4;

/**
 * Backups in a bucket of Amazon S3 or of a server that speaks its protocol. Objects are of some megabytes and put by
 * one request each, which a server answers once it has all of it. The SDK's own checksums are asked for only where the
 * protocol requires them: older servers refuse them, and the manifest has SHA-256 of every object. Objects are removed
 * one by one, since not every server takes a list of them.
 */
export function createS3Storage(settings: S3Settings): BackupStorage {
  const { bucket: Bucket, prefix, endpoint, region, credentials, pathStyle } = settings;
  const client = new S3Client({
    region,
    ...(endpoint === null ? {} : { endpoint }),
    ...(credentials === null ? {} : { credentials }),
    forcePathStyle: pathStyle,
    maxAttempts: ATTEMPTS,
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });
  const inFront = prefix === '' ? '' : `${prefix}/`;
  const place = `s3://${Bucket}${prefix === '' ? '' : `/${prefix}`}`;

  const ask = async <T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      signal?.throwIfAborted();
      const isMissing = error instanceof S3ServiceException && error.name === 'NoSuchKey';
      if (isMissing) throw new AppError('NOT_FOUND', `There is no such object in ${place}.`);
      throw new AppError(
        isForGood(error) ? 'BACKUP_STORAGE_REFUSED' : 'BACKUP_STORAGE_ERROR',
        `The backup storage ${place} cannot be used: ${wordOf(error)}`,
        { cause: error },
      );
    }
  };
  const optional = (signal?: AbortSignal) => (signal === undefined ? {} : { abortSignal: signal });

  /** Names below a prefix, a page at a time. */
  async function* keysBelow(below: string): AsyncGenerator<string[]> {
    for (let after: string | undefined; ;) {
      const answer = await ask(() =>
        client.send(new ListObjectsV2Command({ Bucket, Prefix: below, ContinuationToken: after })),
      );
      yield (answer.Contents ?? []).flatMap(({ Key }) => (Key === undefined ? [] : [Key]));
      if (answer.NextContinuationToken === undefined) return;
      after = answer.NextContinuationToken;
    }
  }

  return {
    place,
    async put(name, bytes, signal) {
      const Key = `${inFront}${name}`;
      const put = new PutObjectCommand({ Bucket, Key, Body: bytes, ContentLength: bytes.length });
      await ask(() => client.send(put, optional(signal)), signal);
    },
    async get(name, signal) {
      const get = new GetObjectCommand({ Bucket, Key: `${inFront}${name}` });
      return await ask(async () => {
        const { Body } = await client.send(get, optional(signal));
        return Buffer.from((await Body?.transformToByteArray()) ?? []);
      }, signal);
    },
    async folders() {
      const found: string[] = [];
      for (let after: string | undefined; ;) {
        const answer = await ask(() =>
          client.send(
            new ListObjectsV2Command({
              Bucket,
              Prefix: inFront,
              Delimiter: '/',
              ContinuationToken: after,
            }),
          ),
        );
        for (const { Prefix } of answer.CommonPrefixes ?? [])
          if (Prefix !== undefined) found.push(Prefix.slice(inFront.length, -1));
        if (answer.NextContinuationToken === undefined) return found;
        after = answer.NextContinuationToken;
      }
    },
    async removeFolder(folder) {
      const keys: string[] = [];
      for await (const page of keysBelow(`${inFront}${folder}/`)) keys.push(...page);
      for (const Key of keys.sort().reverse())
        await ask(() => client.send(new DeleteObjectCommand({ Bucket, Key })));
    },
    close: () => client.destroy(),
  };
}

/** Refused credentials, a bucket that is not there: no later request fares better. 408 and 429 are not of these. */
function isForGood(error: unknown): boolean {
  const status = error instanceof S3ServiceException ? (error.$metadata.httpStatusCode ?? 0) : 0;
  return status >= 400 && status < 500 && status !== 408 && status !== 429;
}

function wordOf(error: unknown): string {
  const { name, code } = error as Error & { code?: string };
  return code ?? name;
}
