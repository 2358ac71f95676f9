import { chmodSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** class name and the module it extends, for the modules whose published jars come without a descriptor */
const MODULES: Record<string, { classname: string; extended?: string }> = {
  'lang-painless': { classname: 'org.opensearch.painless.PainlessPlugin' },
  'analysis-common': {
    classname: 'org.opensearch.analysis.common.CommonAnalysisPlugin',
    extended: 'lang-painless',
  },
  'mapper-extras': { classname: 'org.opensearch.index.mapper.MapperExtrasPlugin' },
  'parent-join': { classname: 'org.opensearch.join.ParentJoinPlugin' },
  reindex: { classname: 'org.opensearch.index.reindex.ReindexPlugin' },
  'transport-netty4': { classname: 'org.opensearch.transport.Netty4Plugin' },
};

/** What each module may do under the security manager; part of the distribution, not of the jars. */
const POLICIES: Record<string, readonly string[]> = {
  'lang-painless': [
    'java.lang.RuntimePermission "createClassLoader"',
    'java.lang.RuntimePermission "getClassLoader"',
  ],
  reindex: ['java.net.SocketPermission "*", "connect"', 'java.net.NetPermission "getProxySelector"'],
  'transport-netty4': [
    'java.io.FilePermission "/proc/sys/net/core/somaxconn", "read"',
    'java.net.SocketPermission "*", "accept,connect"',
    'java.lang.RuntimePermission "setContextClassLoader"',
    'java.lang.RuntimePermission "getClassLoader"',
    'java.util.PropertyPermission "sun.nio.ch.bugLevel", "write"',
  ],
};

/** Turns a folder of jars into a home that OpenSearch starts from: descriptors, policies, empty folders. */
export function finishOpenSearchHome(home: string, version: string): void {
  for (const [name, { classname, extended = '' }] of Object.entries(MODULES)) {
    const descriptor = [
      `description=${name}`,
      `version=${version}`,
      `name=${name}`,
      `classname=${classname}`,
      'java.version=11',
      `opensearch.version=${version}`,
      'custom.foldername=',
      `extended.plugins=${extended}`,
      'has.native.controller=false',
    ];
    writeFileSync(join(home, 'modules', name, 'plugin-descriptor.properties'), `${descriptor.join('\n')}\n`);
  }
  for (const [name, permissions] of Object.entries(POLICIES)) {
    const grants = permissions.map((permission) => `  permission ${permission};`);
    writeFileSync(
      join(home, 'modules', name, 'plugin-security.policy'),
      `grant {\n${grants.join('\n')}\n};\n`,
    );
  }
  const knn = join(home, 'plugins/opensearch-knn/plugin-descriptor.properties');
  const descriptor = readFileSync(knn, 'utf8').replace(
    /^extended\.plugins=.*$/m,
    'extended.plugins=lang-painless',
  );
  writeFileSync(knn, descriptor);
  // bin/ and extensions/ must exist: the security manager looks at them
  for (const folder of ['bin', 'config', 'extensions']) mkdirSync(join(home, folder), { recursive: true });
  makeReadable(home);
}

/** Whatever the umask: as root the service runs as another user, who must be able to read it. */
function makeReadable(folder: string): void {
  chmodSync(folder, 0o755);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) makeReadable(path);
    else chmodSync(path, 0o644);
  }
}
