import { randomUUID } from 'node:crypto';
import type { PromptStore } from '../../../../activities/ports/model-administration.js';
import { AppError } from '../../../../schemas/app-error.js';
import type { PromptRecord } from '../../../../schemas/models/presets.js';
import { PROMPT_TYPES } from '../../../../schemas/models/prompts.js';
import type { PromptType } from '../../../../schemas/models/prompts.js';
import { copyRecord } from '../copy-record.js';

type Kept = PromptRecord & { former?: string; seeded?: boolean };

function outside({ former: _f, seeded: _s, ...prompt }: Kept): PromptRecord {
  return copyRecord(prompt);
}

function order({ prompt_type, name }: Kept): string {
  return `${prompt_type}/${name}`;
}

/** Prompts in a Map. */
export function createFakePromptStore(): PromptStore {
  const prompts = new Map<string, Kept>();
  const defaults: Partial<Record<PromptType, string>> = {};
  const seeded = new Set<PromptType>();
  const named = (type: PromptType, name: string): Kept | undefined =>
    [...prompts.values()].find((one) => one.prompt_type === type && one.name === name);
  return {
    async list({ type, offset = 0, limit = Infinity } = {}) {
      return [...prompts.values()]
        .filter(({ prompt_type }) => type === undefined || prompt_type === type)
        .sort((a, b) => (order(a) < order(b) ? -1 : 1))
        .slice(offset, offset + limit)
        .map(outside);
    },
    async get(id) {
      const found = prompts.get(id);
      return found === undefined ? null : outside(found);
    },
    async find(type, name) {
      const former = [...prompts.values()].find((one) => one.prompt_type === type && one.former === name);
      const found = named(type, name) ?? former;
      return found === undefined ? null : outside(found);
    },
    async create(prompt) {
      if (named(prompt.prompt_type, prompt.name) !== undefined) throw new AppError('PROMPT_EXISTS');
      const now = new Date();
      const record = { ...prompt, id: randomUUID(), created_at: now, updated_at: now };
      prompts.set(record.id, record);
      return outside(record);
    },
    async update(id, patch) {
      const present = prompts.get(id);
      if (present === undefined) return null;
      const twin = patch.name === undefined ? undefined : named(present.prompt_type, patch.name);
      if (twin !== undefined && twin.id !== id) throw new AppError('PROMPT_EXISTS');
      if (patch.name !== undefined && patch.name !== present.name) present.former = present.name;
      Object.assign(present, patch, { updated_at: new Date(), seeded: false });
      return outside(present);
    },
    async remove(id) {
      return prompts.delete(id);
    },
    async seed(texts) {
      for (const type of PROMPT_TYPES) {
        const content = texts[type];
        if (content === undefined) continue;
        const id = `bundled-${type.replaceAll('_', '-')}`;
        const present = prompts.get(id);
        const now = new Date();
        if (!seeded.has(type)) {
          const record = {
            id,
            prompt_type: type,
            name: 'default',
            content,
            created_at: now,
            updated_at: now,
          };
          prompts.set(id, { ...record, seeded: true });
          defaults[type] ??= id;
          seeded.add(type);
        } else if (present?.seeded === true && present.content !== content)
          Object.assign(present, { content, updated_at: now });
      }
    },
    async defaults() {
      return { ...defaults };
    },
    async setDefault(type, id) {
      defaults[type] = id;
    },
  };
}
