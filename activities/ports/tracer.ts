/** What a span says besides its name: never what people wrote, named or sent. */
export type SpanFacts = Readonly<Record<string, string | number>>;

/** As OpenTelemetry has them: `producer` starts work of another process, and does not wait for it. */
export type SpanKind = 'server' | 'client' | 'producer' | 'consumer';

interface SpanEnd {
  /** Instead of the name that it began with. */
  name?: string;
  facts?: SpanFacts;
  failed?: boolean;
}

export interface OpenSpan {
  /** Its place, as the W3C header `traceparent` writes it: what it leads to names it as its parent. */
  readonly traceparent: string;
  end(end?: SpanEnd): void;
}

/** Spans on their way to a collector. Where tracing is off there is none of it. */
export interface Tracer {
  /** @param parent a `traceparent`; a span with none, or with one that cannot be read, begins a trace */
  begin(name: string, kind: SpanKind, parent: string | undefined): OpenSpan;
  /** A span that ends now, after so many seconds. */
  past(name: string, kind: SpanKind, parent: string, seconds: number, end?: Omit<SpanEnd, 'name'>): void;
  /** Hands over what is left, within some seconds. */
  close(): Promise<void>;
}
