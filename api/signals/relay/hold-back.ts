import { Transform } from 'node:stream';

/**
 * Holds a small body back until it is whole, shows it to `seen`, and lets it go when that has finished. A body over
 * the limit flows on at once, unseen.
 */
export const holdBack = (limit: number, seen: (bytes: Buffer) => Promise<void> | void): Transform => {
  let held: Buffer[] | null = [];
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (held === null) return done(null, chunk);
      held.push(chunk);
      size += chunk.length;
      if (size <= limit) return done();
      const all = Buffer.concat(held);
      held = null;
      done(null, all);
    },
    flush(done) {
      if (held === null) return done();
      const all = Buffer.concat(held);
      void (async () => seen(all))().then(() => done(null, all.length === 0 ? undefined : all), done);
    },
  });
};
