import type { Db } from 'mongodb';
import { MODEL_TYPES } from '../../../schemas/documents.js';
import type { ModelEndpoint, ModelType } from '../../../schemas/documents.js';
import type { ModelEndpointStore } from '../../ports.js';
import { isDuplicateKey, withMongoErrors } from './mongo-errors.js';

type EndpointDocument = ModelEndpoint & { _id: string };

/** One document for all types: the rule "one default per type" spans records, so it lives in a single one. */
type DefaultsDocument = { _id: 'model_defaults' } & Partial<Record<ModelType, string>>;

const endpointId = (type: ModelType, name: string): string => `${type}/${name}`;

const toEndpoint = ({ _id, ...endpoint }: EndpointDocument): ModelEndpoint => endpoint;

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
    async setDefaultIfUnset(type, name) {
      const unset = { _id: 'model_defaults' as const, [type]: null };
      for (let attempt = 0; attempt < 2; attempt += 1) {
        try {
          await settings.updateOne(unset, { $set: { [type]: name } }, { upsert: true });
          return;
        } catch (error) {
          // The document is there: either this type is set (nothing to do), or it was inserted just now for
          // another type (the second try finds it).
          if (!isDuplicateKey(error)) throw error;
        }
      }
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
