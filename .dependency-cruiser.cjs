/**
 * Who may import whom. The same table, with the reasons, stands in ARCHITECTURE.md.
 * `dependencyTypesNot: ['type-only']` lets a folder use another's types without its code.
 */
const npm = (pattern) => ({ path: `node_modules/${pattern}` });
module.exports = {
  forbidden: [
    // Types included: a type that another file needs is not declared in a file that imports this other file.
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'documents-know-no-signals',
      severity: 'error',
      from: { path: '/documents/' },
      to: { path: '/signals/', pathNot: 'node_modules' },
    },
    {
      name: 'signals-know-no-documents',
      severity: 'error',
      from: { path: '/signals/' },
      to: { path: '/documents/', pathNot: 'node_modules' },
    },
    {
      name: 'stores-behind-connect',
      severity: 'error',
      from: { pathNot: '^(activities/(stores/|connect(-model-settings)?\\.ts$)|deploy/cli/|test/)' },
      to: { path: '^activities/stores/' },
    },
    {
      name: 'ports-stand-alone',
      severity: 'error',
      from: { path: '^activities/ports/' },
      to: { path: '^(activities|workflows|workers|api|deploy|test)/', pathNot: '^activities/ports/' },
    },
    { name: 'no-unresolved', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'schemas-stand-alone',
      severity: 'error',
      from: { path: '^schemas/' },
      to: { path: '^(workflows|activities|workers|api|deploy|test)/' },
    },
    {
      name: 'schemas-import-zod-only',
      comment: 'but for the one file that reads .env',
      severity: 'error',
      from: { path: '^schemas/', pathNot: '^schemas/config/read-environment\\.ts$' },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'core'],
        pathNot: ['node_modules/zod/', '^(node:)?crypto$', '^(node:)?buffer$'],
      },
    },
    {
      name: 'workflows-import-types-only',
      severity: 'error',
      from: { path: '^workflows/' },
      to: { path: '^(activities|workers|api|deploy|test)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'workflows-take-few-values',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        path: '^schemas/',
        pathNot: '^schemas/(error-table|app-error|task-queues|ids)\\.ts$',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'workflows-npm',
      severity: 'error',
      from: { path: '^workflows/' },
      to: {
        dependencyTypes: ['npm', 'npm-dev', 'core'],
        pathNot: 'node_modules/@temporalio/(workflow|common)/',
      },
    },
    {
      name: 'activities-know-no-outer-folder',
      severity: 'error',
      from: { path: '^activities/' },
      to: { path: '^(workflows|workers|api|deploy|test)/' },
    },
    {
      name: 'activity-context-in-activity-files',
      severity: 'error',
      from: { path: '^activities/', pathNot: '-activities\\.ts$|^activities/temporal/' },
      to: npm('@temporalio/'),
    },
    {
      name: 'drivers-stay-in-adapters',
      severity: 'error',
      from: {
        path: '^activities/',
        pathNot:
          '^activities/(stores|models|outbound|signals/(capi|ip-info))/|^activities/connect(-model-settings)?\\.ts$',
      },
      to: npm('(mongodb|@opensearch-project|@aws-sdk|ioredis|rate-limiter-flexible|ollama|undici)/'),
    },
    {
      name: 'workers-know-workflows-by-path',
      severity: 'error',
      from: { path: '^workers/' },
      to: { path: '^(workflows|api|deploy|test)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'temporal-worker-in-workers',
      severity: 'error',
      from: { path: '^(schemas|workflows|activities|api|deploy)/' },
      to: npm('@temporalio/worker/'),
    },
    {
      name: 'api-takes-few-activities',
      severity: 'error',
      from: { path: '^api/' },
      to: {
        path: '^activities/',
        pathNot: [
          '^activities/(connect|create-logger|metrics|keep-memory-low|listen-on|loop-turns|request-scope|tracing)\\.ts$',
          '^activities/backups/(check-restore|list-backups)\\.ts$',
          '^activities/(ports|retrieval|outbound|temporal|text)/',
          '^activities/signals/(rules|reading|ip-info)/',
          '^activities/documents/(parsing|clean-up|commands)/',
          '^activities/models/require-names\\.ts$',
        ],
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'api-takes-few-types-of-activities',
      severity: 'error',
      from: { path: '^api/' },
      to: {
        path: '^activities/',
        pathNot: [
          '^activities/(connect|create-logger|metrics|keep-memory-low|listen-on|loop-turns|request-scope|tracing)\\.ts$',
          '^activities/backups/(check-restore|list-backups)\\.ts$',
          '^activities/(ports|retrieval|models|outbound|temporal|text)/',
          '^activities/signals/(rules|reading|ip-info)/',
          '^activities/documents/(parsing|clean-up|commands)/',
        ],
      },
    },
    {
      name: 'api-knows-no-worker',
      severity: 'error',
      from: { path: '^api/' },
      to: { path: '^(workers|deploy|test)/' },
    },
    {
      name: 'api-takes-workflow-types',
      severity: 'error',
      from: { path: '^api/' },
      to: { path: '^workflows/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'koa-in-api',
      severity: 'error',
      from: { path: '^(schemas|workflows|activities|workers|deploy)/' },
      to: npm('(koa|@koa|multer)/'),
    },
    {
      name: 'temporal-client-in-few-files',
      severity: 'error',
      from: {
        path: '^api/',
        pathNot: '^api/(temporal|temporal-calls|temporal-schedules|temporal-versions|main)\\.ts$',
      },
      to: npm('@temporalio/client/'),
    },
    {
      name: 'mcp-sdk-in-api-mcp',
      severity: 'error',
      from: { pathNot: '^(api/mcp|test)/' },
      to: npm('@modelcontextprotocol/'),
    },
    {
      name: 'mcp-is-loaded-late',
      comment: 'through the one import() of its route',
      severity: 'error',
      from: { path: '^api/', pathNot: '^api/mcp/' },
      to: { path: '^api/mcp/', pathNot: '^api/mcp/mcp-routes\\.ts$' },
    },
    {
      name: 'opentelemetry-in-one-file',
      severity: 'error',
      from: {
        path: '^(schemas|workflows|activities|workers|api|deploy)/',
        pathNot: '^activities/otlp-tracer\\.ts$',
      },
      to: npm('@opentelemetry/'),
    },
    {
      name: 'opentelemetry-is-loaded-late',
      comment: 'and only where a collector is named',
      severity: 'error',
      from: { pathNot: '^test/' },
      to: { path: '^activities/otlp-tracer\\.ts$', dynamic: false },
    },
    {
      name: 'onnx-in-its-thread',
      comment:
        'the runtime and what computes with it; gateways and workers that rerank nothing must not load it',
      severity: 'error',
      from: {
        path: '^(schemas|workflows|activities|workers|api|deploy)/',
        pathNot: '^activities/models/onnx/(cross-encoder|encode-pairs)\\.ts$',
      },
      to: npm('(onnxruntime-web|@huggingface)/'),
    },
    {
      name: 'onnx-thread-is-started',
      severity: 'error',
      from: { pathNot: '^(test/|activities/models/onnx/(cross-encoder|encode-pairs|rerank-thread)\\.ts$)' },
      to: { path: '^activities/models/onnx/(cross-encoder|encode-pairs|rerank-thread)\\.ts$' },
    },
    { name: 'nothing-imports-tests', severity: 'error', from: { pathNot: '^test/' }, to: { path: '^test/' } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      extensions: ['.ts', '.js', '.mjs', '.cjs', '.json'],
    },
  },
};
