import type { ModelEndpointStore } from '../../../../activities/ports/models.js';
import { AppError } from '../../../../schemas/app-error.js';
import type { ModelEndpoint, ModelType } from '../../../../schemas/models/model-endpoints.js';
import { copyRecord } from '../copy-record.js';

/** Model endpoints in a Map. */
export function createFakeModelEndpointStore(): ModelEndpointStore {
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
    async create(endpoint) {
      const key = `${endpoint.model_type}/${endpoint.name}`;
      const present = endpoints.get(key);
      const begun = present !== undefined && present.renamed_from === endpoint.renamed_from;
      if (begun && endpoint.renamed_from !== undefined) return copyRecord(present);
      if (present !== undefined) throw new AppError('MODEL_ENDPOINT_EXISTS');
      endpoints.set(key, copyRecord(endpoint));
      return endpoint;
    },
    async replace(before, after) {
      const key = `${before.model_type}/${before.name}`;
      const present = endpoints.get(key);
      const same =
        present?.updated_at.getTime() === before.updated_at.getTime() &&
        present.probed_at?.getTime() === before.probed_at?.getTime();
      if (same) endpoints.set(key, copyRecord(after));
      return same;
    },
    async remove(type, name) {
      return endpoints.delete(`${type}/${name}`);
    },
    async moveDefault(type, from, to) {
      if (defaults[type] !== from) return;
      if (to === null) delete defaults[type];
      else defaults[type] = to;
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
    async confirmDefault(type, name) {
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
}
