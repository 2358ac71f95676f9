import {
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  isSpanContextValid,
  trace,
} from '@opentelemetry/api';
import type { Context, Span } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import type { SpanExporter } from '@opentelemetry/sdk-trace-node';
import type { SpanKind as Kind, Tracer } from './ports/tracer.js';

const EXPORT_TIMEOUT_MS = 5000;
/** A process that ends waits so long for the collector to take the last spans. */
const CLOSE_WITHIN_MS = 3000;
const EXPORTED = 0;

const KINDS: Readonly<Record<Kind, SpanKind>> = {
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
};

/** W3C Trace Context, section 3.2: later versions may add something behind. */
const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-|$)/;

function contextOf(traceparent: string | undefined): Context {
  const [, traceId = '', spanId = '', flags = ''] = TRACEPARENT.exec(traceparent ?? '') ?? [];
  const parent = {
    traceId,
    spanId,
    isRemote: true,
    traceFlags: Number.parseInt(flags, 16) & TraceFlags.SAMPLED,
  };
  return isSpanContextValid(parent) ? trace.setSpanContext(ROOT_CONTEXT, parent) : ROOT_CONTEXT;
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-0${traceFlags & TraceFlags.SAMPLED}`;
}

/** `name=value,name=value`, the values percent-encoded, as OpenTelemetry writes headers in a variable. */
function headersIn(text: string): Record<string, string> {
  return Object.fromEntries(
    text.split(',').map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}

/** Tells when handing over begins to fail, and when it works again; the SDK keeps that to itself. */
function watched(
  exporter: SpanExporter,
  onState: (state: 'ready' | 'away', cause?: Error) => void,
): SpanExporter {
  let isAway = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const code: number = result.code;
        const failed = code !== EXPORTED;
        if (failed !== isAway) onState(failed ? 'away' : 'ready', result.error);
        isAway = failed;
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/**
 * Spans to a collector, by OTLP over HTTP. They are handed over in batches behind the work; what the collector does not
 * take is dropped. Nothing is registered globally, so no library makes spans by itself.
 */
export function createOtlpTracer(
  settings: { endpoint: string; headerSecrets: string | null; share: number; service: string },
  onState: (state: 'ready' | 'away', cause?: Error) => void,
): Tracer {
  const exporter = new OTLPTraceExporter({
    url: `${settings.endpoint.replace(/(?<!\/)\/+$/, '')}/v1/traces`,
    headers: settings.headerSecrets === null ? {} : headersIn(settings.headerSecrets),
    timeoutMillis: EXPORT_TIMEOUT_MS,
  });
  // By the id of the trace, so that all processes keep the same ones; who calls us cannot have more of them kept.
  const byShare = new TraceIdRatioBasedSampler(settings.share);
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ 'service.name': settings.service }),
    sampler: new ParentBasedSampler({
      root: byShare,
      remoteParentSampled: byShare,
      localParentSampled: byShare,
    }),
    spanProcessors: [new BatchSpanProcessor(watched(exporter, onState))],
  });
  const tracer = provider.getTracer('tamis');
  const start = (name: string, kind: Kind, parent: string | undefined, startTime: number): Span =>
    tracer.startSpan(name, { kind: KINDS[kind], startTime }, contextOf(parent));
  const finish: (span: Span, endTime: number, end: Parameters<Tracer['past']>[4]) => void = (
    span,
    endTime,
    { facts, failed } = {},
  ) => {
    if (facts !== undefined) span.setAttributes(facts);
    // Without the message: it may quote what it is about.
    if (failed === true) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endTime);
  };
  return {
    begin(name, kind, parent) {
      const began = Date.now();
      const started = performance.now();
      const span = start(name, kind, parent, began);
      return {
        traceparent: traceparentOf(span),
        end(end) {
          if (end?.name !== undefined) span.updateName(end.name);
          finish(span, began + performance.now() - started, end);
        },
      };
    },
    past(name, kind, parent, seconds, end) {
      const now = Date.now();
      finish(start(name, kind, parent, now - seconds * 1000), now, end);
    },
    async close() {
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_WITHIN_MS);
      });
      await Promise.race([provider.shutdown().catch(() => undefined), late]);
      clearTimeout(timer);
    },
  };
}
