import { AppError } from '../../schemas/app-error.js';
import type { Adapters } from '../ports/adapters.js';

export const HOLDS_DOCUMENTS = 'The backup holds documents, which SERVICES leaves out here.';

function refuse(): never {
  throw new AppError('BACKUP_NOT_USABLE', HOLDS_DOCUMENTS);
}

/** What is not there refuses to be used. */
function absent<Port extends object>(present: Partial<Port>): Port {
  return new Proxy(present as Port, {
    get: (target, name): unknown => (name in target ? Reflect.get(target, name) : refuse),
  });
}

/** For backups of the proxy alone: there are no chunks and no models, and none are written. */
export const WITHOUT_DOCUMENTS: Pick<Adapters, 'chunks' | 'models'> = {
  chunks: absent<Adapters['chunks']>({
    async *scanGenerations() {
      // None.
    },
    show: () => Promise.resolve(),
    ownerOf: (recordStore) => Promise.resolve(recordStore),
    giveTo: () => Promise.resolve(),
  }),
  models: absent<Adapters['models']>({}),
};
