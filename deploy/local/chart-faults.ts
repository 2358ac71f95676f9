import { parseConfig } from '../../schemas/config/config.js';
import type { Config } from '../../schemas/config/config.js';

/** What a manifest of the chart holds that is looked at here. */
export interface Manifest {
  kind: string;
  metadata: { name: string };
  /** Of a ConfigMap. */
  data?: Record<string, string>;
  spec?: {
    selector?: { matchLabels?: Record<string, string> };
    podSelector?: { matchLabels?: Record<string, string> };
    scaleTargetRef?: { name: string };
    template?: { metadata: { labels: Record<string, string> }; spec: PodSpec };
  };
}

interface PodSpec {
  automountServiceAccountToken?: boolean;
  securityContext?: { runAsNonRoot?: boolean };
  volumes?: { name: string }[];
  containers: Container[];
}

interface Container {
  name: string;
  image?: string;
  env?: { name: string; value?: string }[];
  ports?: { name: string; containerPort: number }[];
  resources?: { requests?: Record<string, string>; limits?: Record<string, string> };
  securityContext?: {
    allowPrivilegeEscalation?: boolean;
    readOnlyRootFilesystem?: boolean;
    capabilities?: { drop?: string[] };
  };
  volumeMounts?: { name: string }[];
  livenessProbe?: object;
  startupProbe?: object;
}

/** What every pod of ours has, and a schema does not ask for; a sentence for each that lacks it. */
export function chartFaults(manifests: readonly Manifest[]): string[] {
  const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
  const settings = manifests.find(({ kind }) => kind === 'ConfigMap')?.data ?? {};
  const faults = deployments.length < 2 ? ['there are fewer than two Deployments'] : [];
  for (const deployment of deployments) {
    const { name } = deployment.metadata;
    const template = deployment.spec?.template;
    if (template === undefined) {
      faults.push(`${name} has no pods`);
      continue;
    }
    const own = [...podFaults(template.spec), ...settingFaults(template.spec, settings)];
    faults.push(...own.map((fault) => `${name}: ${fault}`));
    const { labels } = template.metadata;
    const selects = (wanted: Record<string, string> = {}): boolean =>
      Object.keys(wanted).length > 0 && Object.entries(wanted).every(([key, value]) => labels[key] === value);
    if (!selects(deployment.spec?.selector?.matchLabels)) faults.push(`${name} does not select its own pods`);
    const budgets = manifests.filter(
      ({ kind, spec }) => kind === 'PodDisruptionBudget' && selects(spec?.selector?.matchLabels),
    );
    if (budgets.length !== 1) faults.push(`${name} has ${budgets.length} disruption budgets instead of one`);
  }
  const names = new Set(deployments.map(({ metadata }) => metadata.name));
  for (const { kind, metadata, spec } of manifests)
    if (spec?.scaleTargetRef !== undefined && !names.has(spec.scaleTargetRef.name))
      faults.push(`${kind} ${metadata.name} scales what is not there`);
  return faults;
}

/** What a container lacks, each by the sentence that is said of it. */
const CONTAINER_RULES: readonly [string, (container: Container) => boolean][] = [
  ['can write to its root file system', ({ securityContext: own }) => own?.readOnlyRootFilesystem === true],
  ['may gain privileges', ({ securityContext: own }) => own?.allowPrivilegeEscalation === false],
  ['keeps capabilities', ({ securityContext: own }) => own?.capabilities?.drop?.includes('ALL') === true],
  ['asks for no processor time', ({ resources }) => resources?.requests?.['cpu'] !== undefined],
  ['asks for no memory', ({ resources }) => resources?.requests?.['memory'] !== undefined],
  ['has no limit of memory', ({ resources }) => resources?.limits?.['memory'] !== undefined],
  ['lacks a liveness probe', ({ livenessProbe }) => livenessProbe !== undefined],
  ['lacks a startup probe', ({ startupProbe }) => startupProbe !== undefined],
];

function podFaults({
  automountServiceAccountToken,
  securityContext,
  volumes = [],
  containers,
}: PodSpec): string[] {
  const faults: string[] = [];
  if (securityContext?.runAsNonRoot !== true) faults.push('may run as root');
  if (automountServiceAccountToken !== false) faults.push('holds a token for the API of the cluster');
  const known = new Set(volumes.map(({ name }) => name));
  for (const container of containers) {
    for (const [sentence, holds] of CONTAINER_RULES) if (!holds(container)) faults.push(sentence);
    for (const { name } of container.volumeMounts ?? [])
      if (!known.has(name)) faults.push(`mounts ${name}, which is no volume`);
  }
  return faults;
}

/** Of the Secret, which no manifest holds. */
const SECRETS_KEY = Buffer.from('a key of 32 bytes for the chart!').toString('base64');

/** What the processes would say of their settings, and ports that no process listens on. */
function settingFaults({ containers }: PodSpec, settings: Record<string, string>): string[] {
  return containers.flatMap(({ env = [], ports = [] }) => {
    const own = Object.fromEntries(env.map(({ name, value }) => [name, value]));
    let config: Config;
    try {
      config = parseConfig({ SECRETS_KEY, ...settings, ...own });
    } catch (error) {
      return [(error as Error).message];
    }
    const { http, worker } = config;
    const listening = [http.port, http.proxyPort, worker.metricsPort];
    return ports.flatMap(({ name, containerPort }) =>
      listening.includes(containerPort) ? [] : [`no process listens on ${containerPort}, the port ${name}`],
    );
  });
}
