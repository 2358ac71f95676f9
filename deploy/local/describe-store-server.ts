import { MongoClient } from 'mongodb';
import { LauncherError } from './launcher-error.js';

/** What of a server's answer to `buildInfo` tells who it is. */
interface BuildInfo {
  version: string;
  ferretdb?: { version: string };
}

/** Names a server by its own word, without what its URL holds of passwords. */
export async function describeStoreServer(url: string | undefined): Promise<string> {
  if (url === undefined) throw new LauncherError('no server: set MONGODB_URL or name its URL');
  try {
    const client = new MongoClient(url, { serverSelectionTimeoutMS: 5_000 });
    try {
      const info = await client.db('admin').command({ buildInfo: 1 });
      return nameOf(info as unknown as BuildInfo);
    } finally {
      await client.close();
    }
  } catch (error) {
    throw new LauncherError(`the server that is to be tested does not answer: ${(error as Error).message}`);
  }
}

/** FerretDB gives the version of MongoDB whose protocol it speaks as its own, and names itself beside it. */
export function nameOf({ version, ferretdb }: BuildInfo): string {
  if (ferretdb === undefined) return `MongoDB ${version}`;
  return `FerretDB ${ferretdb.version.replace(/^v/, '')} on DocumentDB (as MongoDB ${version})`;
}
