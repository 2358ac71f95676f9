import { execFile, spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../support/until.js';

const run = promisify(execFile);

/** A real local API server, with an agent that reads one log file. */
export interface CrowdsecLapi {
  /** Its login at the central API. */
  readonly watcher: string;
  /** Until the LAPI answers and the agent reads. */
  start(): Promise<void>;
  /** TERM by pid; what it has not pushed is lost. */
  stop(): Promise<void>;
  cscli(...args: string[]): Promise<string>;
  /** Posts alerts to the LAPI, as an agent does, each about an address of its own. */
  raise(addresses: readonly string[], scenario: string): Promise<void>;
  /** The file that the agent reads. */
  readonly watched: string;
  logs(): string;
  close(): Promise<void>;
}

const MACHINE = 'tester';
const PASSWORD = 'a-password-of-the-test';
/**
 * What the agent needs to see brute force in the log of an SSH server; no whitelists, which would spare our addresses.
 */
const ITEMS = {
  'scenarios/crowdsecurity': ['ssh-bf.yaml'],
  'parsers/s00-raw/crowdsecurity': ['syslog-logs.yaml'],
  'parsers/s01-parse/crowdsecurity': ['sshd-logs.yaml'],
  'parsers/s02-enrich/crowdsecurity': ['dateparse-enrich.yaml'],
};

/**
 * Lays out a private tree from the unpacked package (wire contract of the proxy, section 7) and points its central API
 * at the proxy.
 * @param files where Debian's package was unpacked
 */
export async function createCrowdsecLapi(options: {
  files: string;
  capiUrl: string;
  port: number;
}): Promise<CrowdsecLapi> {
  const { files, capiUrl, port } = options;
  const root = mkdtempSync(join(tmpdir(), 'tamis-crowdsec-'));
  const at = (...parts: string[]): string => join(root, ...parts);
  const watcher = Array.from(
    randomBytes(48),
    (byte) => 'abcdefghijklmnopqrstuvwxyz0123456789'[byte % 36],
  ).join('');
  const url = `http://127.0.0.1:${port}/`;
  layOut(root, files);
  writeFileSync(at('config.yaml'), configuration(root, port));
  writeFileSync(
    at('etc/online_api_credentials.yaml'),
    `url: ${capiUrl}/\nlogin: ${watcher}\npassword: ${PASSWORD}\n`,
  );
  writeFileSync(at('etc/local_api_credentials.yaml'), '');
  writeFileSync(at('auth.log'), '');

  const cscli = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await run(join(files, 'usr/bin/cscli'), ['-c', at('config.yaml'), ...args]);
    return stdout + stderr;
  };
  await cscli(
    'machines',
    'add',
    MACHINE,
    '--password',
    PASSWORD,
    '--force',
    '-f',
    at('etc/local_api_credentials.yaml'),
  );
  writeFileSync(
    at('etc/local_api_credentials.yaml'),
    `url: ${url}\nlogin: ${MACHINE}\npassword: ${PASSWORD}\n`,
  );

  let child: ChildProcess | null = null;
  const log: string[] = [];
  const call = (path: string, body: unknown, token?: string): Promise<Response> =>
    fetch(`${url}${path}`, {
      method: 'POST',
      // A login with another form of name than program/version is refused as a wrong password.
      headers: {
        'content-type': 'application/json',
        'user-agent': 'tamis-test/1',
        ...(token && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });

  const stop = async (): Promise<void> => {
    if (child === null || child.exitCode !== null) return;
    const gone = new Promise((resolve) => child?.once('exit', resolve));
    child.kill('SIGTERM');
    await gone;
  };
  return {
    watcher,
    cscli,
    stop,
    watched: at('auth.log'),
    async start() {
      child = spawn(join(files, 'usr/bin/crowdsec'), ['-c', at('config.yaml')], { cwd: root });
      for (const stream of [child.stdout, child.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => log.push(text));
      await until(
        'the LAPI answers and its agent reads',
        async () => {
          if (child?.exitCode != null) throw new Error(`crowdsec ended:\n${log.slice(-20).join('')}`);
          if (!log.join('').includes('Starting processing data')) return false;
          return (await fetch(`${url}v1/decisions`).catch(() => null)) !== null;
        },
        { withinMs: 30_000 },
      );
    },
    async raise(addresses, scenario) {
      const login = { machine_id: MACHINE, password: PASSWORD, scenarios: [scenario] };
      const entry = await call('v1/watchers/login', login);
      if (entry.status !== 200) throw new Error(`the LAPI's login: ${entry.status} ${await entry.text()}`);
      const { token } = (await entry.json()) as { token: string };
      const answer = await call(
        'v1/alerts',
        addresses.map((address) => alertAbout(address, scenario)),
        token,
      );
      if (answer.status !== 201) throw new Error(`the LAPI answered ${answer.status} ${await answer.text()}`);
    },
    logs: () => log.join(''),
    async close() {
      await stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

function layOut(root: string, files: string): void {
  const from = (...parts: string[]): string => join(files, ...parts);
  cpSync(from('etc/crowdsec'), join(root, 'etc'), { recursive: true });
  cpSync(from('usr/share/crowdsec/hub'), join(root, 'hub'), { recursive: true });
  cpSync(from('usr/share/crowdsec/data'), join(root, 'data'), { recursive: true });
  for (const [folder, names] of Object.entries(ITEMS))
    for (const name of names) {
      // Enabled by a link without the vendor's folder.
      const target = join(root, 'etc', folder.replace('/crowdsecurity', ''));
      mkdirSync(target, { recursive: true });
      const item = join(root, 'hub', folder, name);
      if (!existsSync(item))
        throw new Error(`the package has no ${folder}/${name}: ${readdirSync(join(item, '..')).join(', ')}`);
      symlinkSync(item, join(target, name));
    }
  writeFileSync(
    join(root, 'etc/acquis.yaml'),
    `filenames:\n  - ${join(root, 'auth.log')}\nlabels:\n  type: syslog\n`,
  );
  // Manual decisions are not shared unless told.
  writeFileSync(
    join(root, 'etc/console.yaml'),
    'share_manual_decisions: true\nshare_custom: true\nshare_tainted: true\n',
  );
}

function configuration(root: string, port: number): string {
  return `
common: { daemonize: true, log_media: stdout, log_level: info, working_dir: . }
config_paths:
  config_dir: ${root}/etc/
  data_dir: ${root}/data/
  simulation_path: ${root}/etc/simulation.yaml
  hub_dir: ${root}/hub/
  index_path: ${root}/hub/.index.json
crowdsec_service:
  acquisition_path: ${root}/etc/acquis.yaml
  parser_routines: 1
cscli: { output: raw }
db_config: { log_level: info, type: sqlite, db_path: ${root}/data/crowdsec.db, use_wal: true }
api:
  client: { insecure_skip_verify: false, credentials_path: ${root}/etc/local_api_credentials.yaml }
  server:
    log_level: info
    listen_uri: 127.0.0.1:${port}
    profiles_path: ${root}/etc/profiles.yaml
    console_path: ${root}/etc/console.yaml
    online_client: { credentials_path: ${root}/etc/online_api_credentials.yaml }
prometheus: { enabled: false }
`;
}

function alertAbout(address: string, scenario: string): object {
  const now = new Date().toISOString();
  return {
    scenario,
    scenario_hash: '1f2e3d',
    scenario_version: '0.1',
    message: `${address} tried passwords`,
    events_count: 6,
    start_at: now,
    stop_at: now,
    capacity: 5,
    leakspeed: '10s',
    simulated: false,
    remediation: true,
    events: [],
    source: { scope: 'Ip', value: address, ip: address },
  };
}
