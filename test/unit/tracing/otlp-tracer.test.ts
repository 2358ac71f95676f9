import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { createOtlpTracer } from '../../../activities/otlp-tracer.js';
import { UNMEASURED } from '../../../activities/ports/meter.js';
import type { Tracer } from '../../../activities/ports/tracer.js';
import { inSpan } from '../../../activities/request-scope.js';
import { openTracing, tracedMeter } from '../../../activities/tracing.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { sha256Hex } from '../../../schemas/sha256.js';
import { startOtlpReceiver } from '../../support/otlp-receiver.js';
import type { OtlpReceiver } from '../../support/otlp-receiver.js';

const PARENT = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

let collector: OtlpReceiver;
const states: string[] = [];

function open(share = 1): Tracer {
  return createOtlpTracer(
    { endpoint: `${collector.url}/`, headerSecrets: null, share, service: 'tamis-test' },
    (state) => states.push(state),
  );
}

beforeEach(async () => {
  states.length = 0;
  collector = await startOtlpReceiver();
});
afterEach(() => collector.close());

describe('spans for a collector', () => {
  it('stand below the span of their parent, with what was said of them', async () => {
    const tracer = open();
    const outer = tracer.begin('GET', 'server', PARENT);
    tracer.past('mongodb files.get', 'client', outer.traceparent, 0.25, { failed: true });
    outer.end({ name: 'GET /version', facts: { 'http.response.status_code': 200 } });
    await tracer.close();
    const [inner, request] = collector.spans();
    expect(request).toMatchObject({
      service: 'tamis-test',
      name: 'GET /version',
      failed: false,
      traceId: 'a'.repeat(32),
      parentId: 'b'.repeat(16),
      attributes: { 'http.response.status_code': 200 },
    });
    expect(inner).toMatchObject({ name: 'mongodb files.get', parentId: request!.spanId, failed: true });
    expect(inner!.ms).toBeCloseTo(250, 0);
  });

  it.each([undefined, '', 'nonsense', `ff${PARENT.slice(2)}`, `00-${'0'.repeat(32)}-${'b'.repeat(16)}-01`])(
    'begin a trace where the parent is %s',
    async (parent) => {
      const tracer = open();
      tracer.begin('GET', 'server', parent).end();
      await tracer.close();
      expect(collector.spans()).toEqual([expect.objectContaining({ parentId: null })]);
    },
  );

  it('are kept by the id of the trace, by each process alike', async () => {
    const share = async (): Promise<string[]> => {
      const tracer = open(0.5);
      for (let index = 0; index < 64; index += 1) {
        const id = sha256Hex(String(index)).slice(0, 32);
        tracer.begin(id, 'server', `00-${id}-${'b'.repeat(16)}-01`).end();
      }
      await tracer.close();
      return collector.spans().map(({ name }) => name);
    };
    const first = await share();
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThan(64);
    expect((await share()).slice(first.length)).toEqual(first);
  });

  it('are dropped where nobody takes them, and that is told once', async () => {
    collector.refuse(403);
    const tracer = open();
    tracer.begin('GET', 'server', undefined).end();
    await tracer.close();
    expect([states, collector.spans()]).toEqual([['away'], []]);
  });
});

describe('calls to engines and model servers', () => {
  it('have a span where they are part of one, and none otherwise', async () => {
    const tracer = open();
    const meter = tracedMeter(UNMEASURED, tracer);
    const call = { engine: 'opensearch', operation: 'bulk', seconds: 0.01, failed: false } as const;
    meter.engineCalled(call);
    inSpan(PARENT, () => meter.engineCalled(call));
    const chat = { provider: 'openai', operation: 'chat', seconds: 0.01, requestId: undefined } as const;
    meter.modelCalled({ ...chat, outcome: 'ok', span: undefined });
    meter.modelCalled({ ...chat, outcome: 'timeout', span: PARENT });
    await tracer.close();
    expect(collector.spans().map(({ name, failed }) => [name, failed])).toEqual([
      ['opensearch bulk', false],
      ['model chat', true],
    ]);
  });

  it('are left as they are where nothing is traced', async () => {
    const tracer = await openTracing(parseConfig({}), 'gateway', () => undefined);
    expect(tracer).toBeNull();
    expect(tracedMeter(UNMEASURED, tracer)).toBe(UNMEASURED);
  });
});

describe('the configuration', () => {
  it.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'ftp://collector' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:secret@collector' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'authorization' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=1,b=%zz' }, 'OTEL_EXPORTER_OTLP_HEADERS'],
    [{ OTEL_TRACES_SAMPLER_ARG: '1.5' }, 'OTEL_TRACES_SAMPLER_ARG'],
  ])('%j is refused', (env, named) => {
    expect(() => parseConfig(env)).toThrow(named);
  });
});
