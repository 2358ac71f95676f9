import type { ModelEndpointStore } from '../../../activities/ports.js';
import type { ModelEndpoint, ModelType } from '../../../schemas/documents.js';
import { copyRecord } from './copy-record.js';

/** Model endpoints in a Map. */
export const createFakeModelEndpointStore = (): ModelEndpointStore => {
  const endpoints = new Map<string, ModelEndpoint>();
  const defaults: Partial<Record<ModelType, string>> = {};
  return {
    async list(type) {
      return [...endpoints.entries()]
        .filter(([, endpoint]) => type === undefined || endpoint.model_type === type)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([, endpoint]) => ({ ...endpoint }));
    },
    async get(type, name) {
      return copyRecord(endpoints.get(`${type}/${name}`) ?? null);
    },
    async seed(endpoint) {
      const key = `${endpoint.model_type}/${endpoint.name}`;
      if (!endpoints.has(key)) endpoints.set(key, { ...endpoint });
    },
    async setDefaultIfUnset(type, name) {
      defaults[type] ??= name;
    },
    async defaults() {
      return { ...defaults };
    },
  };
};
