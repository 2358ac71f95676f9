import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The files of one certificate. */
export interface Certificate {
  certificate: string;
  key: string;
}

export interface Authority {
  /** File of the certificate that signs the others. */
  ca: string;
  /** One for a server of these names or addresses, or for a client of this name. */
  issue(name: string, hosts?: readonly string[]): Certificate;
}

/** Made anew by each test run, with OpenSSL, so that none of them expires and no key is in the repository. */
export interface Authorities {
  folder: string;
  /** What clients and servers of a test trust. */
  own: Authority;
  /** What nobody trusts. */
  foreign: Authority;
  close(): void;
}

const LOOPBACK = ['127.0.0.1', 'localhost'];
/** OpenSearch reads keys in this form alone. */
const KEY_FORM = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

function openssl(args: readonly string[]): void {
  execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'] });
}

export function makeAuthorities(): Authorities {
  const folder = mkdtempSync(join(tmpdir(), 'tamis-certificates-'));
  return {
    folder,
    own: makeAuthority(folder, 'own'),
    foreign: makeAuthority(folder, 'foreign'),
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function makeAuthority(folder: string, name: string): Authority {
  const [ca, caKey] = [join(folder, `${name}-ca.pem`), join(folder, `${name}-ca.key`)];
  openssl([
    'req',
    '-x509',
    ...KEY_FORM,
    '-keyout',
    caKey,
    '-out',
    ca,
    '-days',
    '2',
    '-subj',
    `/CN=${name} authority`,
  ]);
  return {
    ca,
    issue(subject, hosts = LOOPBACK) {
      const file = (ending: string): string => join(folder, `${name}-${subject}.${ending}`);
      const names = hosts.map((host) => (/^[\d.:]+$/.test(host) ? `IP:${host}` : `DNS:${host}`)).join(',');
      writeFileSync(file('ext'), `subjectAltName=${names}\nextendedKeyUsage=serverAuth,clientAuth\n`);
      openssl(['req', ...KEY_FORM, '-keyout', file('key'), '-out', file('csr'), '-subj', `/CN=${subject}`]);
      openssl(
        [
          'x509',
          '-req',
          '-in',
          file('csr'),
          '-CA',
          ca,
          '-CAkey',
          caKey,
          '-CAcreateserial',
          '-days',
          '2',
        ].concat(['-extfile', file('ext'), '-out', file('pem')]),
      );
      return { certificate: file('pem'), key: file('key') };
    },
  };
}

/** The same as Node's `tls` takes it. */
export function readTls(
  ca: string,
  { certificate, key }: Certificate,
): { ca: Buffer; cert: Buffer; key: Buffer } {
  return { ca: readFileSync(ca), cert: readFileSync(certificate), key: readFileSync(key) };
}
