import type { ModelEndpointStore } from '../../../activities/ports.js';
import type { ModelEndpoint, ModelType } from '../../../schemas/documents.js';
import { copyRecord } from './copy-record.js';

/** Model endpoints in a Map. */
export const createFakeModelEndpointStore = (): ModelEndpointStore => {
  const endpoints = new Map<string, ModelEndpoint>();
  const defaults: Partial<Record<ModelType, string>> = {};
  const provisional = new Set<ModelType>();
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
    async save(endpoint) {
      endpoints.set(`${endpoint.model_type}/${endpoint.name}`, { ...endpoint });
    },
    async recordProbe(probed, facts, at) {
      const key = `${probed.model_type}/${probed.name}`;
      const found = endpoints.get(key);
      const same = found?.endpoint === probed.endpoint && found.model_name === probed.model_name;
      if (same && (found.dimension === null || found.dimension === facts.dimension))
        endpoints.set(key, { ...found, ...facts, probed_at: at });
      return copyRecord(endpoints.get(key) ?? null);
    },
    async setDefaultIfUnset(type, name, options = {}) {
      if (defaults[type] !== undefined) return;
      defaults[type] = name;
      if (options.provisional === true) provisional.add(type);
    },
    async settleDefault(type, name) {
      if (provisional.delete(type)) defaults[type] = name;
    },
    async setDefault(type, name) {
      defaults[type] = name;
      provisional.delete(type);
    },
    async defaults() {
      return { ...defaults };
    },
  };
};
