import { createServer } from 'node:http';
import type { IncomingHttpHeaders } from 'node:http';
import protobuf from 'protobufjs';
import { endServer, listenOnLoopback } from './loopback-server.js';

/** What we send of the messages of opentelemetry-proto, `collector/trace/v1`. */
const MESSAGES = `
  syntax = "proto3";
  message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
  message KeyValue { string key = 1; AnyValue value = 2; }
  message Status { string message = 2; int32 code = 3; }
  message Span {
    bytes trace_id = 1; bytes span_id = 2; bytes parent_span_id = 4; string name = 5; int32 kind = 6;
    fixed64 start_time_unix_nano = 7; fixed64 end_time_unix_nano = 8; repeated KeyValue attributes = 9; Status status = 15;
  }
  message ScopeSpans { repeated Span spans = 2; }
  message Resource { repeated KeyValue attributes = 1; }
  message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
  message Request { repeated ResourceSpans resource_spans = 1; }
`;

interface Attribute {
  key: string;
  value: Record<string, string | number>;
}

interface DecodedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes?: Attribute[];
  status?: { code?: number };
}

interface DecodedRequest {
  resourceSpans?: { resource: { attributes: Attribute[] }; scopeSpans: { spans: DecodedSpan[] }[] }[];
}

export interface ReceivedSpan {
  service: string;
  name: string;
  traceId: string;
  spanId: string;
  /** Null: it begins a trace. */
  parentId: string | null;
  /** Since the epoch. */
  startMs: number;
  ms: number;
  failed: boolean;
  attributes: Record<string, string | number>;
}

export interface OtlpReceiver {
  readonly url: string;
  /** What it has got so far. */
  spans(): ReceivedSpan[];
  headers(): IncomingHttpHeaders[];
  /** The bodies as they came, in which strings stand as they are. */
  text(): string;
  /** Answers each request with this status from now on; null: takes them. */
  refuse(status: number | null): void;
  close(): Promise<void>;
}

function hex(base64 = ''): string {
  return Buffer.from(base64, 'base64').toString('hex');
}

function attributesOf(attributes: readonly Attribute[] = []): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [
      key,
      value['intValue'] === undefined ? Object.values(value)[0]! : Number(value['intValue']),
    ]),
  );
}

function received(request: DecodedRequest): ReceivedSpan[] {
  return (request.resourceSpans ?? []).flatMap(({ resource, scopeSpans }) =>
    scopeSpans
      .flatMap(({ spans }) => spans)
      .map((span) => ({
        service: String(attributesOf(resource.attributes)['service.name']),
        name: span.name,
        traceId: hex(span.traceId),
        spanId: hex(span.spanId),
        parentId: span.parentSpanId === undefined ? null : hex(span.parentSpanId),
        startMs: Number(span.startTimeUnixNano) / 1e6,
        ms: Number(BigInt(span.endTimeUnixNano) - BigInt(span.startTimeUnixNano)) / 1e6,
        failed: span.status?.code === 2,
        attributes: attributesOf(span.attributes),
      })),
  );
}

/** A collector that keeps what it gets. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const type = protobuf.parse(MESSAGES).root.lookupType('Request');
  const bodies: Buffer[] = [];
  const headers: IncomingHttpHeaders[] = [];
  let refusal: number | null = null;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const isKnown = request.url === '/v1/traces' && request.method === 'POST';
      if (isKnown && refusal === null) bodies.push(Buffer.concat(parts));
      headers.push(request.headers);
      response
        .writeHead(isKnown ? (refusal ?? 200) : 404, { 'content-type': 'application/x-protobuf' })
        .end();
    });
  });
  const { url } = await listenOnLoopback(server);
  return {
    url,
    spans: () =>
      bodies.flatMap((body) =>
        received(type.toObject(type.decode(body), { longs: String, bytes: String }) as DecodedRequest),
      ),
    headers: () => headers,
    text: () => Buffer.concat(bodies).toString(),
    refuse: (status) => (refusal = status),
    close: () => endServer(server),
  };
}

function childrenOf(spans: readonly ReceivedSpan[], parent: ReceivedSpan | null): ReceivedSpan[] {
  const ids = new Set(spans.map(({ spanId }) => spanId));
  return spans
    .filter(({ parentId }) =>
      parent === null ? parentId === null || !ids.has(parentId) : parentId === parent.spanId,
    )
    .sort((one, other) => one.startMs - other.startMs);
}

/** The names from the root to each span, with ` > ` between them. */
export function spanPaths(
  spans: readonly ReceivedSpan[],
  parent: ReceivedSpan | null = null,
  above = '',
): string[] {
  return childrenOf(spans, parent).flatMap((span) => {
    const path = `${above}${span.name}`;
    return [path, ...spanPaths(spans, span, `${path} > `)];
  });
}

/** As docs show a trace: a line for each span with its process, its begin and how long it took. */
export function spanTree(spans: readonly ReceivedSpan[]): string {
  const [root] = childrenOf(spans, null);
  const lines = (parent: ReceivedSpan | null, indent: string): string[] =>
    childrenOf(spans, parent).flatMap((span) => {
      const [began, took] = [span.startMs - (root?.startMs ?? 0), span.ms].map((ms) =>
        ms.toFixed(1).padStart(8),
      );
      const from = span.service.replace('tamis-', '').padEnd(8);
      return [
        `${began} ${took}  ${from} ${indent}${span.name}${span.failed ? ' (failed)' : ''}`,
        ...lines(span, `${indent}  `),
      ];
    });
  return ['begins ms, took ms', ...lines(null, '')].join('\n');
}
