import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { GO_NEEDED } from '../find-go.js';
import { obtainHelm } from '../helm.js';
import { chartFaults } from '../chart-faults.js';
import type { Manifest } from '../chart-faults.js';
import { LauncherError } from '../launcher-error.js';
import { findPython, installPythonPackages } from '../python-packages.js';
import type { Workbench } from '../workbench.js';

const run = promisify(execFile);
/** Of a folder too, which PYTHONPATH names: without a colon. */
const SUBJECT = 'kubernetes-schemas';
/** The oldest release of Kubernetes that the chart names, and a recent one. */
const KUBERNETES = ['1.27', '1.34'];
/** Of KEDA's, for which Kubernetes has no schema. */
const WITHOUT_SCHEMA = new Set(['ScaledObject']);

/** What an operator may set, each in one rendering at least. */
const RENDERINGS: Readonly<Record<string, readonly string[]>> = {
  'as shipped': [],
  'scaled by KEDA, with certificates': [
    'keda.enabled=true,keda.authenticationName=temporal,keda.tlsServerName=temporal.internal',
    'certificates[0].secretName=temporal-tls,certificates[0].mountPath=/etc/tamis/temporal',
    'image.tag=1.2.3,image.pullSecrets[0].name=registry',
  ],
  'of fixed size, one port, without network policies': [
    'gateway.autoscaling.enabled=false,gateway.proxyPort=0,networkPolicy.enabled=false',
    'workers.documents.autoscaling.enabled=false,workers.models.autoscaling.enabled=false',
    'workers.alerts.autoscaling.enabled=false',
  ],
  'of the proxy alone': ['settings.SERVICES=proxy'],
  'of documents alone': ['settings.SERVICES=documents'],
  'with claims for models and for backups': ['models.claimName=models,backups.claimName=backups'],
};

/**
 * The Helm chart: linted, rendered in several ways, each manifest checked against the schemas of two releases of
 * Kubernetes and for what every pod of ours must have. Ends well, with a sentence, where there is no Helm and no Go.
 */
export async function checkDeploy(bench: Workbench): Promise<number> {
  const helm = await obtainHelm(bench);
  if (helm === null) {
    bench.report.say(
      `Not checked: the chart is rendered by Helm, which is not here, nor ${GO_NEEDED} to build it.`,
    );
    return 0;
  }
  const chart = join(bench.paths.root, 'deploy/kubernetes');
  const python = await findPython(bench, SUBJECT);
  const packages = await installPythonPackages(bench, {
    subject: SUBJECT,
    python,
    what: 'the schemas of Kubernetes',
    requirements: join(bench.paths.root, 'deploy/local/artifacts/kubernetes-validate.pip'),
  });
  const folder = mkdtempSync(join(tmpdir(), 'tamis-chart-'));
  try {
    for (const version of KUBERNETES)
      for (const [name, settings] of Object.entries(RENDERINGS)) {
        // Helm built without its release's flags takes a cluster of 2020 for granted.
        const cluster = [
          '--kube-version',
          `${version}.0`,
          ...settings.flatMap((setting) => ['--set', setting]),
        ];
        await tell(run(helm, ['lint', '--strict', '--quiet', ...cluster, chart]));
        const { stdout } = await tell(
          run(helm, ['template', 'check', chart, ...cluster], { maxBuffer: 1 << 24 }),
        );
        const manifests = parseAllDocuments(stdout).flatMap(
          (document) => (document.toJS() as Manifest | null) ?? [],
        );
        const faults = chartFaults(manifests);
        if (faults.length > 0) throw new LauncherError(`the chart, ${name}:\n${faults.join('\n')}`);
        const files = manifests
          .filter(({ kind }) => !WITHOUT_SCHEMA.has(kind))
          .map((manifest, at) => {
            const file = join(folder, `${at}-${manifest.kind}.json`);
            writeFileSync(file, JSON.stringify(manifest));
            return file;
          });
        const args = ['-m', 'kubernetes_validate', '--strict', '--quiet', '-k', version, ...files];
        await tell(run(python, args, { env: { ...process.env, PYTHONPATH: packages } }));
        bench.report.say(`✓ ${name}: ${manifests.length} manifests of Kubernetes ${version}`);
      }
    return 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @throws LauncherError with what a program has said when it failed */
async function tell<T>(running: Promise<T>): Promise<T> {
  try {
    return await running;
  } catch (error) {
    const { stdout = '', stderr = '', message } = error as Error & { stdout?: string; stderr?: string };
    throw new LauncherError(`${message}\n${stdout}${stderr}`);
  }
}
