import { chmodSync, copyFileSync, readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The child process of `download-into-cache.ts`: `downloader.ts <what> <folder>` leaves an executable called <what>
 * in the folder. Each library downloads, checks and runs its own server, so what is left has worked once.
 */
const [what = '', folder = ''] = process.argv.slice(2);

if (what === 'mongod') await mongod();
else await temporal();

async function mongod(): Promise<void> {
  const { MongoBinary } = await import('mongodb-memory-server-core');
  console.log(`asking for ${what}`);
  const binary = await MongoBinary.getPath({ downloadDir: folder, systemBinary: '' });
  // it may have found one that another project keeps: that one stays where it is
  if (binary.startsWith(folder)) renameSync(binary, join(folder, what));
  else copyFileSync(binary, join(folder, what));
}

async function temporal(): Promise<void> {
  const { TestWorkflowEnvironment } = await import('@temporalio/testing');
  console.log(`asking for ${what}`);
  const executable = { type: 'cached-download' as const, downloadDir: folder };
  const environment =
    what === 'temporal'
      ? await TestWorkflowEnvironment.createLocal({ server: { executable } })
      : await TestWorkflowEnvironment.createTimeSkipping({ server: { executable } });
  await environment.teardown();
  const binary = readdirSync(folder).find((name) => name.startsWith('temporal'));
  if (!binary) throw new Error(`nothing was downloaded to ${folder}`);
  renameSync(join(folder, binary), join(folder, what));
  chmodSync(join(folder, what), 0o755);
}
