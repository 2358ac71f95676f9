import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { chartFaults } from '../../../deploy/local/chart-faults.js';
import type { Manifest } from '../../../deploy/local/chart-faults.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { KNOWN_VARIABLES } from '../../../schemas/config/environment.js';

/** `npm run check:deploy` renders it; what needs no Helm is looked at here. */
const CHART = 'deploy/kubernetes';

interface Values {
  settings: Record<string, string>;
  backups: { claimName: string; mountPath: string };
  gateway: { settings: Record<string, string>; resources: { limits: { memory: string } } };
  workers: Record<string, { taskQueues: string[]; settings: Record<string, string>; resources: object }>;
}
const values = parse(readFileSync(join(CHART, 'values.yaml'), 'utf8')) as Values;

test('every task queue has one kind of workers, and every variable is one that the processes read', () => {
  const served = Object.values(values.workers).flatMap(({ taskQueues }) => taskQueues);
  expect([...served].sort()).toEqual([...parseConfig({}).worker.taskQueues].sort());
  const named = [
    values.settings,
    values.gateway.settings,
    ...Object.values(values.workers).map(({ settings }) => settings),
  ].flatMap((settings) => Object.keys(settings));
  const templates = readdirSync(join(CHART, 'templates')).map((file) =>
    readFileSync(join(CHART, 'templates', file), 'utf8'),
  );
  const written = templates.flatMap((text) =>
    [...text.matchAll(/- name: ([A-Z][A-Z_]+)$/gm)].map(([, name]) => name!),
  );
  expect(written).toContain('WORKER_TASK_QUEUES');
  expect([...named, ...written].filter((name) => !KNOWN_VARIABLES.includes(name))).toEqual([]);
  // As the processes read them.
  expect(parseConfig(values.settings).temporal.address).toBe('temporal-frontend:7233');
});

test('the parsers of a gateway fit into its limit beside itself', () => {
  const { memoryMb, totalMemoryMb } = parseConfig({ ...values.settings, ...values.gateway.settings }).parsing;
  expect(totalMemoryMb).toBeGreaterThanOrEqual(memoryMb);
  expect(totalMemoryMb + 1024).toBeLessThanOrEqual(Number.parseInt(values.gateway.resources.limits.memory));
  expect(values.gateway.resources.limits.memory).toMatch(/^\d+Mi$/);
  // They are written into its environment.
  expect(readFileSync(join(CHART, 'templates/gateway.yaml'), 'utf8')).toContain('.Values.gateway.settings');
});

test('a claim for backups is mounted in every pod, where BACKUP_LOCATION names it', () => {
  const { claimName, mountPath } = values.backups;
  expect([claimName, parseConfig({ BACKUP_LOCATION: mountPath }).backups.location]).toEqual(['', mountPath]);
  const template = (file: string): string => readFileSync(join(CHART, 'templates', file), 'utf8');
  expect(template('settings.yaml')).toMatch(
    /if \.Values\.backups\.claimName \}\}\n {2}BACKUP_LOCATION: \{\{ \.Values\.backups\.mountPath /,
  );
  const helpers = template('_helpers.tpl');
  expect(helpers).toContain('- name: backups\n    persistentVolumeClaim:\n');
  expect(helpers).toContain('- name: backups\n    mountPath: {{ .root.Values.backups.mountPath }}\n');
});

test('the port of the proxy and the workers depend on the sides that are served', () => {
  const templates = readdirSync(join(CHART, 'templates')).map((file) => ({
    file,
    text: readFileSync(join(CHART, 'templates', file), 'utf8'),
  }));
  const naming = (text: string): string[] =>
    templates.filter((template) => template.text.includes(text)).map(({ file }) => file);
  expect(naming('.Values.gateway.proxyPort')).toEqual(['_helpers.tpl']);
  expect(naming('include "tamis.proxyPort"')).toEqual(['gateway.yaml', 'network-policies.yaml']);
  const ofWorkers = naming('range $kind, $worker := .Values.workers');
  expect(ofWorkers).toEqual(['network-policies.yaml', 'workers.yaml']);
  expect(naming('include "tamis.hasWork"')).toEqual(ofWorkers);
});

test('a port that no process listens on, and a worker without work, are told of', () => {
  const settings = (SERVICES: string): Manifest => ({
    kind: 'ConfigMap',
    metadata: { name: 'settings' },
    data: { ...values.settings, SERVICES },
  });
  const deployment = (
    name: string,
    env: Record<string, string>,
    ports: Record<string, number>,
  ): Manifest => ({
    kind: 'Deployment',
    metadata: { name },
    spec: {
      template: {
        metadata: { labels: {} },
        spec: {
          containers: [
            {
              name,
              env: Object.entries(env).map(([variable, value]) => ({ name: variable, value })),
              ports: Object.entries(ports).map(([port, containerPort]) => ({ name: port, containerPort })),
            },
          ],
        },
      },
    },
  });
  const onTwo = deployment('gateway', { PORT: '8080', PROXY_PORT: '8081' }, { http: 8080, proxy: 8081 });
  const onOne = deployment('gateway', { PORT: '8080' }, { http: 8080 });
  const worker = (queues: string): Manifest =>
    deployment('worker', { WORKER_TASK_QUEUES: queues, WORKER_METRICS_PORT: '9464' }, { metrics: 9464 });
  const told = (...manifests: Manifest[]): string[] =>
    chartFaults(manifests).filter((fault) => /no process listens|no work/.test(fault));
  expect(told(settings('documents,proxy'), onTwo, worker('models'), worker('alerts'))).toEqual([]);
  expect(told(settings('proxy'), onOne, worker('documents,migrations'), worker('alerts'))).toEqual([]);
  expect(told(settings('proxy'), onTwo, worker('models'))).toEqual([
    'gateway: no process listens on 8080, the port http',
    expect.stringContaining('models has no work where SERVICES is proxy'),
  ]);
  expect(told(settings('documents'), onTwo, worker('alerts'))).toEqual([
    'gateway: no process listens on 8081, the port proxy',
    expect.stringContaining('alerts has no work where SERVICES is documents'),
  ]);
});

test('the versions of chart and package agree', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  expect(parse(readFileSync(join(CHART, 'Chart.yaml'), 'utf8'))).toMatchObject({
    version,
    appVersion: version,
  });
});

test('a pod that could do more than it must is told of', () => {
  const container = {
    name: 'one',
    resources: { requests: { cpu: '1', memory: '1Gi' }, limits: { memory: '1Gi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    livenessProbe: {},
    startupProbe: {},
  };
  const deployment = (name: string, changes: object = {}): Manifest => ({
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels: { app: name } },
        spec: {
          automountServiceAccountToken: false,
          securityContext: { runAsNonRoot: true },
          containers: [{ ...container, ...changes }],
        },
      },
    },
  });
  const budget = (app: string): Manifest => ({
    kind: 'PodDisruptionBudget',
    metadata: { name: app },
    spec: { selector: { matchLabels: { app } } },
  });
  const good = [deployment('one'), deployment('two'), budget('one'), budget('two')];
  expect(chartFaults(good)).toEqual([]);
  expect(chartFaults([deployment('one', { securityContext: {} }), deployment('two'), budget('two')])).toEqual(
    [
      'one: can write to its root file system',
      'one: may gain privileges',
      'one: keeps capabilities',
      'one has 0 disruption budgets instead of one',
    ],
  );
  const scaler: Manifest = {
    kind: 'ScaledObject',
    metadata: { name: 's' },
    spec: { scaleTargetRef: { name: 'three' } },
  };
  expect(chartFaults([...good, scaler])).toEqual(['ScaledObject s scales what is not there']);
});
