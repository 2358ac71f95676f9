import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { askProgram } from '../ask-program.js';
import { buildIntoCache } from '../build-into-cache.js';
import { downloadIntoCache } from '../download-into-cache.js';
import { findJava } from '../find-java.js';
import { findProgram } from '../find-program.js';
import { fetchArtifacts } from '../maven-artifacts.js';
import { runTool } from '../run-tool.js';
import type { Program, Service } from './service.js';

const OLDEST_MONGOD = 6;
const DOWNLOADED = 'mongod';
const SOURCES = 'deploy/java';

/**
 * A real mongod where one can be had. Otherwise mongo-java-server, a stand-in that speaks MongoDB's protocol, behind
 * our own front: good for development and tests, never for production.
 */
export const mongodb: Service = {
  name: 'mongodb',
  variable: 'MONGODB_URL',
  ports: [27017],

  async find() {
    const path = findProgram('mongod', process.env, [
      '/usr/local/bin',
      '/opt/homebrew/bin',
      '/opt/mongodb/bin',
    ]);
    return path ? await mongod(path) : null;
  },

  async kept({ paths }) {
    const path = join(paths.cache, DOWNLOADED, 'mongod');
    if (existsSync(path)) return await mongod(path);
    const home = join(paths.cache, standInName(paths.root));
    return existsSync(home) ? standIn(home) : null;
  },

  async download(bench) {
    const folder = await downloadIntoCache(bench, 'mongod', DOWNLOADED, 'mongodb');
    return folder ? await mongod(join(folder, 'mongod')) : null;
  },

  async build(bench) {
    const java = await findJava(bench, 'mongodb');
    const home = await buildIntoCache(bench, standInName(bench.paths.root), 'mongodb', async (draft) => {
      bench.report.phase('mongodb', 'putting the stand-in together from Maven artifacts', 15);
      await fetchArtifacts(bench, 'mongodb', 'mongo-stand-in.txt', draft);
      // compiled with a compiler that is a jar itself: a plain JRE, as Debian's Maven brings it, has none
      const compiler = join(draft, 'compiler/ecj-3.32.0.jar');
      const jars = readdirSync(join(draft, 'lib')).map((jar) => join(draft, 'lib', jar));
      const options = ['-11', '-nowarn', '-cp', jars.join(':'), '-d', join(draft, 'classes')];
      const args = ['-jar', compiler, ...options, ...sourcesOf(bench.paths.root)];
      await runTool(bench, { subject: 'mongodb', command: java, args });
    });
    return standIn(home);
  },

  async launch(bench, program, [port]) {
    const data = join(bench.paths.local, program.kind);
    mkdirSync(data, { recursive: true });
    const own = { cwd: data, env: {}, readySeconds: 120 };
    if (program.kind === 'mongod') {
      const args = ['--dbpath', data, '--port', String(port), '--bind_ip', '127.0.0.1', '--nounixsocket'];
      return { ...own, command: program.path, args, expectedSeconds: 3 };
    }
    // G1: with the simplest collector everybody waits for more than a second while a full heap is gone through
    const jvm = [
      '-Xmx1g',
      '-XX:+UseG1GC',
      '-XX:MaxGCPauseMillis=100',
      '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
    ];
    const path = `${join(program.path, 'classes')}:${join(program.path, 'lib')}/*`;
    const args = [...jvm, '-cp', path, 'MongoFront', String(port), join(data, 'data.mv')];
    return { ...own, command: await findJava(bench, 'mongodb'), args, expectedSeconds: 4 };
  },

  addresses([port]) {
    return { mongodb: `mongodb://127.0.0.1:${port}` };
  },

  async ready(_bench, address) {
    const client = new MongoClient(address, { serverSelectionTimeoutMS: 2000 });
    try {
      await client.db('admin').command({ ping: 1 });
      return true;
    } finally {
      await client.close();
    }
  },
};

/** Null when it does not run on this machine (an old processor, a missing library) or is too old. */
async function mongod(path: string): Promise<Program | null> {
  const version = /db version v((\d+)\.\S+)/.exec((await askProgram(path, ['--version'])) ?? '');
  if (!version || Number(version[2]) < OLDEST_MONGOD) return null;
  return { path, kind: 'mongod', label: `mongod ${version[1]} (${path})` };
}

function standIn(home: string): Program {
  return { path: home, kind: 'mongo-stand-in', label: 'a stand-in for MongoDB (mongo-java-server 1.47.0)' };
}

/** A change of our front or of the artifacts makes a new home. */
function standInName(root: string): string {
  const hash = createHash('sha256');
  for (const file of [...sourcesOf(root), join(root, 'deploy/local/artifacts/mongo-stand-in.txt')])
    hash.update(readFileSync(file));
  return `mongo-stand-in-${hash.digest('hex').slice(0, 12)}`;
}

function sourcesOf(root: string): string[] {
  const folder = join(root, SOURCES);
  return readdirSync(folder)
    .sort()
    .map((file) => join(folder, file));
}
