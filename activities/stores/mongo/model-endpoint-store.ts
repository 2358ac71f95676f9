import type { Db } from 'mongodb';
import { MODEL_TYPES } from '../../../schemas/documents.js';
import type { ModelEndpoint, ModelType } from '../../../schemas/documents.js';
import type { ModelEndpointStore } from '../../ports.js';
import { isDuplicateKey, withMongoErrors } from './mongo-errors.js';

type EndpointDocument = ModelEndpoint & { _id: string };

/** One document for all types: the rule "one default per type" spans records, so it lives in a single one. */
type DefaultsDocument = { _id: 'model_defaults' } & Partial<Record<ModelType, string>> & {
    /** Types whose default was chosen for want of anything better. */
    provisional?: Partial<Record<ModelType, boolean>>;
  };

const endpointId = (type: ModelType, name: string): string => `${type}/${name}`;

/** Records of the first release lack the fields that a probe fills. */
const toEndpoint = ({ _id, ...endpoint }: EndpointDocument): ModelEndpoint => ({
  ...endpoint,
  provider: endpoint.provider ?? (endpoint.endpoint.startsWith('builtin:') ? 'builtin' : null),
  sealed_api_key: endpoint.sealed_api_key ?? null,
  text_form: endpoint.text_form ?? null,
  probed_at: endpoint.probed_at ?? null,
});

/** Model endpoints in collection `model_endpoints`, the defaults in `settings`. */
export const createMongoModelEndpointStore = (db: Db): ModelEndpointStore => {
  const endpoints = db.collection<EndpointDocument>('model_endpoints');
  const settings = db.collection<DefaultsDocument>('settings');
  return withMongoErrors<ModelEndpointStore>({
    async list(type) {
      const filter = type === undefined ? {} : { model_type: type };
      return (await endpoints.find(filter).sort({ _id: 1 }).toArray()).map(toEndpoint);
    },
    async get(type, name) {
      const document = await endpoints.findOne({ _id: endpointId(type, name) });
      return document && toEndpoint(document);
    },
    async seed(endpoint) {
      try {
        await endpoints.insertOne({ ...endpoint, _id: endpointId(endpoint.model_type, endpoint.name) });
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
      }
    },
    async save(endpoint) {
      const _id = endpointId(endpoint.model_type, endpoint.name);
      await endpoints.replaceOne({ _id }, endpoint, { upsert: true });
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
    async settleDefault(type, name) {
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
};
