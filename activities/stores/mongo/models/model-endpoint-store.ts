import type { Db } from 'mongodb';
import { AppError } from '../../../../schemas/app-error.js';
import { MODEL_TYPES } from '../../../../schemas/models/model-endpoints.js';
import type { ModelEndpoint, ModelType } from '../../../../schemas/models/model-endpoints.js';
import type { ModelEndpointStore } from '../../../ports/models.js';
import { isDuplicateKey, withMongoErrors } from '../mongo-errors.js';

/** `extra` is kept as JSON text: its keys are the operator's, `$` and `.` included. */
type EndpointDocument = Omit<ModelEndpoint, 'extra'> & { _id: string; extra_text?: string };

/** One document for all types: the rule "one default per type" spans records, so it lives in a single one. */
type DefaultsDocument = { _id: 'model_defaults' } & Partial<Record<ModelType, string>> & {
    /** Types whose default was chosen for want of anything better. */
    provisional?: Partial<Record<ModelType, boolean>>;
  };

function endpointId(type: ModelType, name: string): string {
  return `${type}/${name}`;
}

/** Records of the first release lack the fields that a probe fills. */
function toEndpoint({ _id, extra_text, ...endpoint }: EndpointDocument): ModelEndpoint {
  return {
    ...endpoint,
    extra: JSON.parse(extra_text ?? '{}') as ModelEndpoint['extra'],
    provider: endpoint.provider ?? (endpoint.endpoint.startsWith('builtin:') ? 'builtin' : null),
    sealed_api_key: endpoint.sealed_api_key ?? null,
    text_form: endpoint.text_form ?? null,
    probed_at: endpoint.probed_at ?? null,
  };
}

function toDocument({ extra, ...endpoint }: ModelEndpoint): EndpointDocument {
  return {
    ...endpoint,
    _id: endpointId(endpoint.model_type, endpoint.name),
    extra_text: JSON.stringify(extra),
  };
}

/** Model endpoints in collection `model_endpoints`, the defaults in `settings`. */
export function createMongoModelEndpointStore(db: Db): ModelEndpointStore {
  const endpoints = db.collection<EndpointDocument>('model_endpoints');
  const settings = db.collection<DefaultsDocument>('settings');
  const find = async (type: ModelType, name: string): Promise<ModelEndpoint | null> => {
    const document = await endpoints.findOne({ _id: endpointId(type, name) });
    return document && toEndpoint(document);
  };
  return withMongoErrors<ModelEndpointStore>({
    async list(type) {
      const filter = type === undefined ? {} : { model_type: type };
      return (await endpoints.find(filter).sort({ _id: 1 }).toArray()).map(toEndpoint);
    },
    get: find,
    async seed(endpoint) {
      try {
        await endpoints.insertOne(toDocument(endpoint));
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
    },
    async save(endpoint) {
      const { _id, ...document } = toDocument(endpoint);
      await endpoints.replaceOne({ _id }, document, { upsert: true });
    },
    async create(endpoint) {
      try {
        await endpoints.insertOne(toDocument(endpoint));
        return endpoint;
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        const { renamed_from: from } = endpoint;
        const begun = from === undefined ? null : await find(endpoint.model_type, endpoint.name);
        if (begun?.renamed_from !== from || begun === null) throw new AppError('MODEL_ENDPOINT_EXISTS');
        return begun;
      }
    },
    async replace(before, after) {
      const { _id, ...document } = toDocument(after);
      const { updated_at, probed_at } = before;
      const { matchedCount } = await endpoints.replaceOne({ _id, updated_at, probed_at }, document);
      return matchedCount === 1;
    },
    async remove(type, name) {
      return (await endpoints.deleteOne({ _id: endpointId(type, name) })).deletedCount === 1;
    },
    async recordProbe(probed, facts, at) {
      const _id = endpointId(probed.model_type, probed.name);
      const { endpoint, model_name } = probed;
      // A dimension that is known stays: chunks are stored in it.
      const dimension = { $in: [null, facts.dimension] };
      await endpoints.updateOne(
        { _id, endpoint, model_name, dimension },
        { $set: { ...facts, probed_at: at } },
      );
      const document = await endpoints.findOne({ _id });
      return document && toEndpoint(document);
    },
    async setDefaultIfUnset(type, name, { provisional = false } = {}) {
      const unset = { _id: 'model_defaults' as const, [type]: null };
      const set = { [type]: name, ...(provisional && { [`provisional.${type}`]: true }) };
      for (let attempt = 0; attempt < 2; attempt += 1) {
        try {
          await settings.updateOne(unset, { $set: set }, { upsert: true });
          return;
        } catch (error) {
          // The document is there: either this type is set (nothing to do), or it was inserted just now for
          // another type (the second try finds it).
          if (!isDuplicateKey(error)) throw error;
        }
      }
    },
    async confirmDefault(type, name) {
      const provisional = `provisional.${type}`;
      await settings.updateOne(
        { _id: 'model_defaults', [provisional]: true },
        { $set: { [type]: name }, $unset: { [provisional]: '' } },
      );
    },
    async setDefault(type, name) {
      await settings.updateOne(
        { _id: 'model_defaults' },
        { $set: { [type]: name }, $unset: { [`provisional.${type}`]: '' } },
        { upsert: true },
      );
    },
    async moveDefault(type, from, to) {
      await settings.updateOne(
        { _id: 'model_defaults', [type]: from },
        to === null ? { $unset: { [type]: '' } } : { $set: { [type]: to } },
      );
    },
    async defaults() {
      const document = await settings.findOne({ _id: 'model_defaults' });
      const found: Partial<Record<ModelType, string>> = {};
      for (const type of MODEL_TYPES) {
        const name = document?.[type];
        if (name != null) found[type] = name;
      }
      return found;
    },
  });
}
