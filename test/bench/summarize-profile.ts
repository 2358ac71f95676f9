/** A CPU profile as V8 gives it; source: chromedevtools.github.io/devtools-protocol/v8/Profiler/#type-Profile. */
export interface CpuProfile {
  nodes: { id: number; callFrame: { functionName: string; url: string } }[];
  samples: number[];
  /** Microseconds between samples. */
  timeDeltas: number[];
}

const WRITES = /^(?:writev|writeBuffer|write(?:Utf8|Latin1|Ascii|Ucs2)String)$/;

/** By the address of the code, the first that fits. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/node_modules\/(?:mongodb|bson)\//, "MongoDB's driver"],
  [/node_modules\/(?:@opensearch-project|secure-json-parse|lossless-json)\//, "OpenSearch's driver"],
  [/node_modules\/(?:@temporalio|protobufjs|long|@protobufjs|@grpc)\//, "Temporal's SDK"],
  [/node_modules\/undici\//, 'undici (models, CAPI)'],
  [/node_modules\/(?:koa|@koa|koa-compose|busboy|@koa\/multer|multer)\//, 'Koa'],
  [/node_modules\/zod\//, 'zod (bodies, answers)'],
  [/node_modules\/(?:pino|prom-client|sonic-boom)[^/]*\//, 'logs and metrics'],
  [/node_modules\//, 'other packages'],
  [/\/(?:activities|api|workflows|workers|schemas)\/[^?]*\.(?:js|ts)$/, 'own code'],
  [/^node:/, 'Node: HTTP, sockets, streams'],
];

function partOf(functionName: string, url: string): string | null {
  if (functionName === '(idle)') return null;
  if (functionName === '(garbage collector)') return 'garbage collector';
  if (url === '' && WRITES.test(functionName)) return 'writes to sockets';
  return PARTS.find(([address]) => address.test(url))?.[1] ?? 'V8 and built-in functions';
}

/** Milliseconds that a thread spent in each part itself; waiting is left out. */
export function summarizeProfile({ nodes, samples, timeDeltas }: CpuProfile): Map<string, number> {
  const parts = new Map(
    nodes.map(({ id, callFrame: { functionName, url } }) => [id, partOf(functionName, url)]),
  );
  const spent = new Map<string, number>();
  for (const [place, id] of samples.entries()) {
    const part = parts.get(id) ?? null;
    if (part !== null) spent.set(part, (spent.get(part) ?? 0) + timeDeltas[place]! / 1000);
  }
  return spent;
}
