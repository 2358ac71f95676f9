import { gunzipSync, gzipSync } from 'node:zlib';
import type { RequestListener } from 'node:http';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mintToken } from '../../../../deploy/stand-in-capi/stand-in-token.js';
import { sha256Hex } from '../../../../schemas/sha256.js';
import { until } from '../../../support/until.js';
import { startProxy } from '../../support/start-proxy.js';
import type { Proxy } from '../../support/start-proxy.js';
import { startUpstream } from '../../support/scripted-upstream.js';

/** The server of the stores removes copies of an earlier week. */
const T0 = Math.floor(Date.now() / 3_600_000) * 3_600_000;
const { token } = mintToken('w1', { issuedAt: T0, lifetimeSeconds: 36_000 });
const START = '/v3/decisions/stream?startup=true';
const DELTA = '/v3/decisions/stream';

let proxy: Proxy;
let upstream: Awaited<ReturnType<typeof startUpstream>>;
let script: RequestListener;
let clock: number;

beforeEach(async () => {
  clock = T0;
  upstream = await startUpstream((req, res) => script(req, res));
  proxy = await startProxy({ capiUrl: upstream.url, now: () => new Date(clock) });
});
afterEach(async () => {
  await proxy.close();
  await upstream.close();
});

function group(values: string[], duration = '4h') {
  return {
    scenario: 's',
    scope: 'Ip',
    decisions: values.map((value) => ({ value, duration })),
  };
}

function says(body: unknown, { zip = false } = {}): void {
  script = (_req, res) => {
    const bytes = Buffer.from(JSON.stringify(body));
    res.writeHead(200, zip ? { 'content-encoding': 'gzip' } : {}).end(zip ? gzipSync(bytes) : bytes);
  };
}

function breaksOff(): void {
  script = (_req, res) => {
    res.writeHead(200, { 'content-length': '1000' });
    res.write('{"new":[');
    setTimeout(() => res.destroy(), 20);
  };
}

function fails(status: number): void {
  script = (_req, res) => void res.writeHead(status).end('{"message":"down"}');
}

function pull(
  path: string,
  { bearer = token, headers = {} }: { bearer?: string | null; headers?: object } = {},
) {
  return proxy.raw('GET', path, {
    headers: { ...(bearer === null ? {} : { authorization: `Bearer ${bearer}` }), ...headers },
  });
}

function kept(revision: number, watcher = 'w1') {
  return until(
    'the copy is kept',
    async () => (await proxy.stores.copies.read(watcher, 'v3'))?.revision === revision,
  );
}

function valuesOf(body: Buffer): string[] {
  return (JSON.parse(String(body)) as { new: { decisions: { value: string }[] }[] }).new.flatMap(
    ({ decisions }) => decisions.map(({ value }) => value),
  );
}

describe('GET /v3/decisions/stream', () => {
  it('comes from CAPI while CAPI answers, and from the aggregated copy, with its age, while it does not', async () => {
    says({ new: [group(['1', '2'])], deleted: [], links: { blocklists: [], allowlists: [] } }, { zip: true });
    const first = await pull(START, { headers: { 'accept-encoding': 'gzip' } });
    expect([first.headers['content-encoding'], valuesOf(gunzipSync(first.body))]).toEqual([
      'gzip',
      ['1', '2'],
    ]);
    await kept(1);
    says({ new: [group(['3'])], deleted: [{ scope: 'Ip', decisions: ['1'] }] });
    await pull(DELTA);
    await kept(2);

    clock += 90_000;
    fails(503);
    const copy = await pull(START);
    expect([copy.status, copy.headers['age'], copy.headers['x-tamis-copy-from']]).toEqual([
      200,
      '90',
      new Date(T0).toISOString(),
    ]);
    expect(JSON.parse(String(copy.body))).toEqual({
      new: [
        {
          scenario: 's',
          scope: 'Ip',
          decisions: ['2', '3'].map((value) => ({ value, duration: '3h58m30s' })),
        },
      ],
      deleted: [],
      links: { blocklists: [], allowlists: [] },
    });
    expect(JSON.parse(String((await pull(DELTA)).body))).toMatchObject({ new: [], deleted: [] });
    // As what stands in front of CAPI says it.
    fails(521);
    expect((await pull(START)).status).toBe(200);
    await upstream.close();
    expect(valuesOf((await pull(START)).body)).toEqual(['2', '3']);
  });

  it('is served to a token that CAPI took before, and to no other', async () => {
    says({ new: [group(['1'])], deleted: [] });
    await pull(START);
    await kept(1);
    fails(502);
    const forged = mintToken('w1', { issuedAt: T0 + 5000, lifetimeSeconds: 36_000 }).token;
    for (const bearer of [null, 'opaque', forged, mintToken('w2', { issuedAt: T0 }).token])
      expect([bearer, (await pull(START, { bearer })).status]).toEqual([bearer, 502]);
    expect((await pull(START)).status).toBe(200);
    clock = T0 + 36_001_000;
    expect((await pull(START)).status).toBe(502);
    clock = T0;
    const { createHash } = await import('node:crypto');
    await proxy.stores.watchers.refuseToken('w1', createHash('sha256').update(token).digest('hex'));
    expect((await pull(START)).status).toBe(502);
  });

  it('an answer that is no stream makes no token one that CAPI took', async () => {
    says({ new: [group(['1'])], deleted: [] });
    await pull(START);
    await kept(1);
    const forged = mintToken('w1', { issuedAt: T0 + 5000, lifetimeSeconds: 36_000 }).token;
    script = (_req, res) => void res.writeHead(200, { 'content-type': 'text/html' }).end('<p>Maintenance');
    expect((await pull(START, { bearer: forged })).status).toBe(200);
    // Behind that one, in order.
    says({ new: [group(['2'])], deleted: [] });
    await pull(DELTA);
    await kept(2);
    fails(502);
    expect((await pull(START, { bearer: forged })).status).toBe(502);
    expect((await pull(START)).status).toBe(200);
  });

  it.each([304, 400, 401, 403, 404, 429])('passes %i on: CAPI is not down', async (status) => {
    says({ new: [group(['1'])], deleted: [] });
    await pull(START);
    await kept(1);
    script = (req, res) => {
      res.writeHead(status, { 'retry-after': '9', etag: String(req.headers['if-modified-since']) }).end();
    };
    const answer = await pull(START, { headers: { 'if-modified-since': 'yesterday' } });
    expect([answer.status, answer.headers['retry-after'], answer.headers['etag']]).toEqual([
      status,
      '9',
      'yesterday',
    ]);
    expect((await proxy.stores.copies.read('w1', 'v3'))?.revision).toBe(1);
  });

  it('has nothing to serve after a delta without a start, and after one that broke off', async () => {
    says({ new: [group(['1'])], deleted: [] });
    await pull(DELTA);
    fails(503);
    expect((await pull(START)).status).toBe(503);

    says({ new: [group(['1'])], deleted: [] });
    await pull(START);
    await kept(1);
    breaksOff();
    await expect(pull(DELTA)).rejects.toThrow();
    // The set would lack what the delta said.
    await until('the copy is dropped', async () => (await proxy.stores.copies.read('w1', 'v3')) === null);
  });

  it('keeps its copy where an answer to a start breaks off or is none, and serves it while CAPI is down', async () => {
    says({ new: [group(['1'])], deleted: [] });
    await pull(START);
    await kept(1);
    breaksOff();
    await expect(pull(START)).rejects.toThrow();
    says({ message: 'maintenance' });
    expect((await pull(START)).status).toBe(200);
    // Answers of one watcher have their effect in order: this delta finds the copy, or begins none.
    says({ new: [group(['2'])], deleted: [] });
    await pull(DELTA);
    await kept(2);
    fails(503);
    expect(valuesOf((await pull(START)).body)).toEqual(['1', '2']);
  });

  it('drops its copy where a start is too large to be kept: deltas build on what the watcher has', async () => {
    says({ new: [group(['1'])], deleted: [] });
    await pull(START);
    await kept(1);
    says({ new: [group(['2'])], deleted: [], padding: 'x'.repeat(9 * 1024 * 1024) });
    await pull(START);
    await until('the copy is dropped', async () => (await proxy.stores.copies.read('w1', 'v3')) === null);
  });

  it('passes a body that is larger than what is kept, whole', async () => {
    const huge = Buffer.alloc(9 * 1024 * 1024, 0x20);
    script = (_req, res) => void res.writeHead(200).end(huge);
    expect((await pull(START)).body.length).toBe(huge.length);
    expect(await proxy.stores.copies.read('w1', 'v3')).toBeNull();
  });

  it('zips a large copy for who takes it', async () => {
    says({ new: [group(Array.from({ length: 2000 }, (_, i) => `10.0.${i >> 8}.${i & 255}`))], deleted: [] });
    await pull(START);
    await kept(1);
    fails(503);
    const zipped = await pull(START, { headers: { 'accept-encoding': 'gzip' } });
    expect(zipped.headers['content-encoding']).toBe('gzip');
    expect(valuesOf(gunzipSync(zipped.body))).toHaveLength(2000);
    expect((await pull(START)).headers['content-encoding']).toBeUndefined();
  });

  it('aggregates in order, however fast they come', async () => {
    says({ new: [group(['0'])], deleted: [] });
    await pull(START);
    let serial = 0;
    script = (_req, res) => {
      serial += 1;
      res.end(JSON.stringify({ new: [group([String(serial)])], deleted: [] }));
    };
    await Promise.all(Array.from({ length: 10 }, () => pull(DELTA)));
    await kept(11);
    fails(503);
    expect(
      valuesOf((await pull(START)).body)
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual([...Array(11).keys()]);
  });

  it('is aggregated for one watcher at a time, however many pull at once', async () => {
    says({ new: [group(['1', '2'])], deleted: [] });
    const { copies } = proxy.stores;
    const { read, write } = { read: copies.read.bind(copies), write: copies.write.bind(copies) };
    let [open, most] = [0, 0];
    copies.read = (...asked) => {
      open += 1;
      most = Math.max(most, open);
      return read(...asked);
    };
    copies.write = (...given) => write(...given).finally(() => void (open -= 1));
    const names = Array.from({ length: 20 }, (_, index) => `many-${index}`);
    await Promise.all(
      names.map((name) =>
        pull(START, { bearer: mintToken(name, { issuedAt: T0, lifetimeSeconds: 36_000 }).token }),
      ),
    );
    for (const name of names)
      await until(`the copy of ${name} is kept`, async () => (await read(name, 'v3'))?.revision === 1);
    expect(most).toBe(1);
  });

  it('is aggregated once of several starts that wait, and dropped where the last of them is no stream', async () => {
    const { copies } = proxy.stores;
    const { read, write } = { read: copies.read.bind(copies), write: copies.write.bind(copies) };
    const noted: string[] = [];
    const drop = copies.drop.bind(copies);
    copies.drop = (...asked) => drop(...asked).finally(() => void noted.push('drop'));
    copies.write = (...given) => write(...given).finally(() => void noted.push('write'));
    for (const last of [{ new: [group(['9'])], deleted: [] }, { message: 'maintenance' }]) {
      let open = (): void => undefined;
      const gate = new Promise<void>((resolve) => (open = resolve));
      let begun = false;
      copies.read = async (...asked) => {
        begun = true;
        await gate;
        return read(...asked);
      };
      noted.length = 0;
      says({ new: [group(['1'])], deleted: [] });
      await pull(START);
      await until('the first is under way', async () => begun);
      for (let index = 0; index < 5; index += 1) await pull(START);
      await pull(DELTA);
      says(last);
      await pull(START);
      open();
      const through = 'new' in last ? ['write', 'write'] : ['write', 'drop'];
      await until('all are through', async () => noted.length === through.length);
      expect(noted).toEqual(through);
      // A delta behind them finds what they left.
      says({ new: [group(['10'])], deleted: [] });
      await pull(DELTA);
      if ('new' in last) await until('the delta is kept', async () => noted.length === 3);
      copies.read = read;
    }
    fails(503);
    expect((await pull(START)).status).toBe(503);
  });

  it('is not served without what went by while the store was away, nor does a later delta build on it', async () => {
    const { copies } = proxy.stores;
    const real = { ...copies };
    for (const later of [true, false]) {
      says({ new: [group(['1'])], deleted: [] });
      await pull(START);
      await until('the copy is kept', async () => (await real.read('w1', 'v3'))?.behind === false);
      const away = () => Promise.reject(new Error('the store is away'));
      Object.assign(copies, { read: away, write: away, drop: away, setBehind: away });
      says({ new: [group(['2'])], deleted: [] });
      expect((await pull(DELTA)).status).toBe(200);
      Object.assign(copies, real);
      if (later) await pull(DELTA);
      fails(503);
      expect((await pull(START)).status).toBe(503);
      await until('the copy is dropped', async () => (await real.read('w1', 'v3')) === null);
    }
  });

  it('is not served without what went by when a gateway ended, nor does a later delta build on it', async () => {
    for (const later of [true, false]) {
      const { copies } = proxy.stores;
      const read = copies.read.bind(copies);
      says({ new: [group(['1'])], deleted: [] });
      await pull(START);
      await until('the copy is kept', async () => (await read('w1', 'v3'))?.behind === false);
      // What waits to be aggregated goes with its process.
      let begun = false;
      copies.write = () => ((begun = true), new Promise<never>(() => undefined));
      says({ new: [group(['2'])], deleted: [] });
      await pull(DELTA);
      await until('the delta is about to be kept', async () => begun);
      const before = await read('w1', 'v3');
      await proxy.close();
      proxy = await startProxy({ capiUrl: upstream.url, now: () => new Date(clock) });
      await proxy.stores.copies.write('w1', 'v3', before!, 0);
      await proxy.stores.watchers.acceptToken('w1', sha256Hex(token));
      if (later) await pull(DELTA);
      fails(503);
      expect((await pull(START)).status).toBe(503);
    }
  });

  it('goes on when it was noted, and the copy counts as complete again when a start breaks off', async () => {
    says({ new: [group(['1'])], deleted: [] });
    await pull(START);
    await kept(1);
    const { copies } = proxy.stores;
    const setBehind = copies.setBehind.bind(copies);
    let open = (): void => undefined;
    const gate = new Promise<void>((resolve) => (open = resolve));
    let begun = false;
    copies.setBehind = async (...given) => {
      begun = true;
      await gate;
      return setBehind(...given);
    };
    const delta = pull(DELTA);
    let answered = false;
    void delta.then(() => (answered = true));
    await until('it is being noted', async () => begun);
    expect(answered).toBe(false);
    open();
    expect((await delta).status).toBe(200);
    await kept(2);
    breaksOff();
    await expect(pull(START)).rejects.toThrow();
    await until('it is complete', async () => (await copies.read('w1', 'v3'))?.behind === false);
    fails(503);
    expect((await pull(START)).status).toBe(200);
  });
});
