import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { MongoClient } from 'mongodb';
import { launchFerretdb } from '../../../deploy/local/services/ferretdb.js';
import {
  launchPostgres,
  postgresAddress,
  readPostgresPassword,
} from '../../../deploy/local/services/postgres-launch.js';
import type { Authorities } from '../../support/certificates.js';
import { freePort } from '../../support/free-port.js';
import { testBench } from '../../unit/deploy/test-bench.js';
import { closer, engineFolder, programOf, removeFolder, startEngine } from './engine-process.js';

export interface SecuredMongodb {
  /** With user, password and certificate in it, as an operator writes it. */
  urlOf(login: { user?: string; password?: string; clientFile?: string | null }): string;
  /** File of certificate and key together, as MongoDB's drivers take a client's. */
  clientFile: string;
  close(): Promise<void>;
}

/** FerretDB with TLS on both sides and accounts, on a PostgreSQL of its own. */
export async function startSecuredMongodb(
  authorities: Authorities,
  account: { user: string; password: string },
): Promise<SecuredMongodb> {
  const closing = closer();
  const folder = engineFolder('mongodb');
  closing.add(() => removeFolder(folder));
  try {
    const bench = testBench(folder);
    const [inner, port] = [await freePort(), await freePort()];
    const home = { path: programOf('SECURED_POSTGRES'), kind: 'postgres', label: 'PostgreSQL' };
    const postgres = await launchPostgres(bench, home, [inner]);
    const database = await startEngine('postgres', folder, postgres, () => accepts(inner));
    closing.add(() => database.close());

    const ferretdb = { path: programOf('SECURED_FERRETDB'), kind: 'ferretdb', label: 'FerretDB' };
    const plain = launchFerretdb(bench, ferretdb, port, postgresAddress(inner));
    const server = authorities.own.issue('mongodb');
    const secured = plain.args
      .filter((arg) => arg !== '--no-auth' && !arg.startsWith('--listen-addr='))
      .concat(
        '--listen-addr=',
        `--listen-tls=127.0.0.1:${port}`,
        `--listen-tls-cert-file=${server.certificate}`,
        `--listen-tls-key-file=${server.key}`,
        `--listen-tls-ca-file=${authorities.own.ca}`,
      );
    const clientFile = bothIn(authorities);
    const urlOf: SecuredMongodb['urlOf'] = ({ user, password, clientFile: file = clientFile }) => {
      const login =
        user === undefined ? '' : `${encodeURIComponent(user)}:${encodeURIComponent(password ?? '')}@`;
      const shown = file === null ? '' : `&tlsCertificateKeyFile=${encodeURIComponent(file)}`;
      return `mongodb://${login}127.0.0.1:${port}/?directConnection=true&serverSelectionTimeoutMS=3000${shown}`;
    };
    // The account that the launcher has made for PostgreSQL, which may make others.
    const owner = { user: new URL(postgresAddress(inner)).username, password: readPostgresPassword(bench) };
    const engine = await startEngine('ferretdb', folder, { ...plain, args: secured }, async () => {
      const client = new MongoClient(urlOf(owner), { tls: true, ca: readFileSync(authorities.own.ca) });
      try {
        await client.db('admin').command({
          createUser: account.user,
          pwd: account.password,
          roles: [
            { role: 'clusterAdmin', db: 'admin' },
            { role: 'readWriteAnyDatabase', db: 'admin' },
          ],
        });
        return true;
      } finally {
        await client.close();
      }
    });
    closing.add(() => engine.close());
    return { urlOf, clientFile, close: () => closing.all() };
  } catch (error) {
    await closing.all();
    throw error;
  }
}

async function accepts(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true));
    socket.on('error', () => resolve(false));
    socket.on('connect', () => socket.end());
  });
}

function bothIn({ own, folder }: Authorities): string {
  const { certificate, key } = own.issue('tamis');
  const file = join(folder, 'tamis-both.pem');
  writeFileSync(file, Buffer.concat([readFileSync(certificate), readFileSync(key)]));
  return file;
}
