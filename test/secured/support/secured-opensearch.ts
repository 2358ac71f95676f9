import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { launchOpenSearch } from '../../../deploy/local/services/opensearch-launch.js';
import type { Authorities, Certificate } from '../../support/certificates.js';
import { readTls } from '../../support/certificates.js';
import { freePort } from '../../support/free-port.js';
import { testBench } from '../../unit/deploy/test-bench.js';
import { closer, engineFolder, programOf, removeFolder, startEngine } from './engine-process.js';

export interface SecuredOpenSearch {
  url: string;
  /** A user with these rights alone. */
  addUser(name: string, password: string, role: OpenSearchRole): Promise<void>;
  close(): Promise<void>;
}

interface OpenSearchRole {
  cluster_permissions: readonly string[];
  index_permissions: readonly { index_patterns: readonly string[]; allowed_actions: readonly string[] }[];
}

const CLUSTER_SETTINGS = `
plugins.security.ssl.transport.pemcert_filepath: node.pem
plugins.security.ssl.transport.pemkey_filepath: node.key
plugins.security.ssl.transport.pemtrustedcas_filepath: ca.pem
plugins.security.ssl.transport.enforce_hostname_verification: false
plugins.security.ssl.http.enabled: true
plugins.security.ssl.http.clientauth_mode: REQUIRE
plugins.security.ssl.http.pemcert_filepath: node.pem
plugins.security.ssl.http.pemkey_filepath: node.key
plugins.security.ssl.http.pemtrustedcas_filepath: ca.pem
plugins.security.nodes_dn: ['CN=node']
plugins.security.authcz.admin_dn: ['CN=admin']
plugins.security.allow_default_init_securityindex: true
`;

/** Who logs in is one of the plugin's own users, by name and password. */
const BASIC_AUTHENTICATION = {
  _meta: { type: 'config', config_version: 2 },
  config: {
    dynamic: {
      http: { anonymous_auth_enabled: false },
      authc: {
        basic: {
          http_enabled: true,
          order: 0,
          http_authenticator: { type: 'basic', challenge: true },
          authentication_backend: { type: 'intern' },
        },
      },
    },
  },
};

/** OpenSearch with its security plugin: TLS with certificates on both sides, and users of its own. */
export async function startSecuredOpenSearch(authorities: Authorities): Promise<SecuredOpenSearch> {
  const home = programOf('SECURED_OPENSEARCH');
  const closing = closer();
  const folder = engineFolder('opensearch');
  closing.add(() => removeFolder(folder));
  try {
    const bench = testBench(folder);
    const [http, transport] = [await freePort(), await freePort()];
    const program = { path: home, kind: 'assembled', label: 'OpenSearch' };
    const config = join(bench.paths.local, 'opensearch/config');
    writeSecurityFiles(config, home, authorities);
    // Last, since it hands the folder over to the user that the engine runs as.
    const launch = await launchOpenSearch(bench, program, [http, transport]);
    const settings = join(config, 'opensearch.yml');
    const secured = readFileSync(settings, 'utf8').replace('plugins.security.disabled: true', '');
    writeFileSync(settings, secured + CLUSTER_SETTINGS);
    const admin = authorities.own.issue('admin');
    const url = `https://127.0.0.1:${http}`;
    const administer = (method: string, path: string, body?: object) =>
      ask(`${url}${path}`, method, authorities.own.ca, admin, body);
    const engine = await startEngine('opensearch', folder, launch, async () => {
      const { status, body } = await administer('GET', '/_plugins/_security/health');
      return status === 200 && body.includes('"UP"');
    });
    closing.add(() => engine.close());
    return {
      url,
      async addUser(name, password, role) {
        const calls: [string, object][] = [
          [`roles/${name}`, role],
          [`internalusers/${name}`, { password }],
          [`rolesmapping/${name}`, { users: [name] }],
        ];
        for (const [path, body] of calls) {
          const answer = await administer('PUT', `/_plugins/_security/api/${path}`, body);
          if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.body}`);
        }
      },
      close: () => closing.all(),
    };
  } catch (error) {
    await closing.all();
    throw error;
  }
}

/** The plugin reads certificates from the engine's configuration alone; what is not set is as its makers deliver it. */
function writeSecurityFiles(config: string, home: string, { own }: Authorities): void {
  const folder = join(config, 'opensearch-security');
  mkdirSync(folder, { recursive: true });
  const node = own.issue('node');
  for (const [from, to] of [
    [node.certificate, 'node.pem'],
    [node.key, 'node.key'],
    [own.ca, 'ca.pem'],
  ] as const)
    copyFileSync(from, join(config, to));
  const delivered = ['action_groups', 'roles', 'tenants', 'nodes_dn', 'allowlist', 'audit'];
  for (const name of delivered)
    copyFileSync(
      join(home, 'plugins/opensearch-security/config', `${name}.yml`),
      join(folder, `${name}.yml`),
    );
  // JSON is YAML
  const written = { config: BASIC_AUTHENTICATION, internal_users: empty('internalusers') };
  for (const [name, content] of Object.entries({ ...written, roles_mapping: empty('rolesmapping') }))
    writeFileSync(join(folder, `${name}.yml`), JSON.stringify(content));
}

function empty(type: string): object {
  return { _meta: { type, config_version: 2 } };
}

async function ask(
  url: string,
  method: string,
  ca: string,
  certificate: Certificate,
  body?: object,
): Promise<{ status: number; body: string }> {
  return await new Promise((resolve, reject) => {
    const call = request(
      url,
      { method, ...readTls(ca, certificate), headers: { 'content-type': 'application/json' } },
      (response) => {
        response
          .toArray()
          .then((parts) =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(parts).toString() }),
          )
          .catch(reject);
      },
    );
    call.on('error', reject);
    call.end(body && JSON.stringify(body));
  });
}
