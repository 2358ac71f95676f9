import { Connection } from '@temporalio/client';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { loopbackChannel } from '../../../schemas/temporal-channel.js';
import { askProgram } from '../ask-program.js';
import { downloadIntoCache } from '../download-into-cache.js';
import { findProgram } from '../find-program.js';
import { homeFolder } from '../home-folder.js';
import { DRIVER, buildTemporal } from './build-temporal.js';
import type { Program, Service } from './service.js';

const CLI = { module: 'github.com/temporalio/cli/cmd/temporal', version: '1.5.1' };
const DOWNLOADED = 'temporal-cli';
const BUILT = `temporal-cli-${CLI.version}-${DRIVER}`;

/**
 * A write-ahead log takes half the processor time of SQLite's rollback journal (0.09 instead of 0.18 s for each file
 * that is indexed), and every process may still be killed at any moment. A power cut may cost the last moments, which
 * the sweep then repeats.
 */
const SQLITE_PRAGMAS = ['journal_mode=WAL', 'synchronous=NORMAL'];

/**
 * A step on the queue of its plan goes to the worker that has asked for it with the answer to that, without a turn
 * through the queue. deploy/temporal/dynamic-config.yaml says the same.
 */
const DYNAMIC_CONFIG = ['system.enableActivityEagerExecution=true'];

/** What the operator can search workflows by; the code works without them. */
const SEARCH_ATTRIBUTES = ['TamisKind', 'TamisPartition', 'TamisState'];

/** Temporal's own development server with its UI, on a database file. */
export const temporal: Service = {
  name: 'temporal',
  variable: 'TEMPORAL_ADDRESS',
  ports: [7233, 8233],

  async find() {
    const path = findProgram('temporal', process.env, [
      join(homeFolder(), '.temporalio/bin'),
      '/usr/local/bin',
      '/opt/homebrew/bin',
    ]);
    const version = path && /version (\S+)/.exec((await askProgram(path, ['--version'])) ?? '')?.[1];
    return version ? { path, kind: 'cli', label: `temporal ${version} (${path})` } : null;
  },

  async kept({ paths }) {
    for (const name of [DOWNLOADED, BUILT]) {
      const path = join(paths.cache, name, 'temporal');
      if (existsSync(path)) return program(path);
    }
    return null;
  },

  async download(bench) {
    const folder = await downloadIntoCache(bench, 'temporal', DOWNLOADED, 'temporal');
    return folder ? program(join(folder, 'temporal')) : null;
  },

  async build(bench) {
    const path = await buildTemporal(bench, {
      name: BUILT,
      file: 'temporal',
      module: CLI.module,
      ldflags: `-X github.com/temporalio/cli/temporalcli.Version=${CLI.version}`,
      what: `the dev server ${CLI.version}`,
      expectedSeconds: 180,
      advice: [
        'or install the temporal CLI and have it on PATH',
        'or set TEMPORAL_ADDRESS to a server that runs already',
      ],
    });
    return program(path);
  },

  async launch({ paths }, { path }, [rpc, ui]) {
    const data = join(paths.local, 'temporal');
    mkdirSync(data, { recursive: true });
    return {
      command: path,
      args: [
        'server',
        'start-dev',
        '--ip',
        '127.0.0.1',
        '--port',
        String(rpc),
        '--ui-port',
        String(ui),
        '--db-filename',
        join(data, 'temporal.db'),
        '--log-level',
        'warn',
        ...SQLITE_PRAGMAS.flatMap((pragma) => ['--sqlite-pragma', pragma]),
        ...DYNAMIC_CONFIG.flatMap((value) => ['--dynamic-config-value', value]),
        ...SEARCH_ATTRIBUTES.flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
      ],
      cwd: data,
      env: {},
      readySeconds: 120,
      expectedSeconds: 4,
    };
  },

  addresses([rpc, ui]) {
    return { temporal: `127.0.0.1:${rpc}`, temporal_ui: `http://127.0.0.1:${ui}` };
  },

  async ready({ settings }, address) {
    const namespace = settings['TEMPORAL_NAMESPACE'] ?? 'default';
    const connection = await Connection.connect({
      address,
      connectTimeout: '2s',
      ...loopbackChannel(address),
    });
    try {
      await connection.withDeadline(Date.now() + 2000, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      return true;
    } finally {
      await connection.close();
    }
  },
};

function program(path: string): Program {
  return { path, kind: 'cli', label: `temporal (${path})` };
}
