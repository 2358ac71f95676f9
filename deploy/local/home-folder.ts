import { homedir } from 'node:os';
import { ownTemporaryFolder } from './own-folder.js';

/** A user that is a number alone has none without HOME: then a folder of this user alone among the temporary ones. */
export function homeFolder(): string {
  try {
    return homedir();
  } catch {
    return ownTemporaryFolder('tamis-home');
  }
}
