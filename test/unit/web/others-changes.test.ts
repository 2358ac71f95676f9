import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { loadWeb } from '../../support/load-web.js';

interface UserValues {
  name: string;
  email: string;
  admin: boolean;
  quota: number | string;
}

interface PromptValues {
  name: string;
  type: string;
  content: string;
  isDefault: boolean;
}

interface Preset {
  name: string;
  preset_type: string;
  config: Record<string, unknown>;
}

const PRESET: Preset = { name: 'wide', preset_type: 'retrieval', config: { rrf_k: 60 } };

/** What was asked to be changed, and the preset that the server has. */
const changes: { asked: string; body: unknown }[] = [];
let stored = PRESET;

async function serve(input: Request | string, init?: RequestInit): Promise<Response> {
  const request = typeof input === 'string' ? new Request(`http://console.test${input}`, init) : input;
  if (request.method === 'GET') return Response.json(stored);
  changes.push({
    asked: `${request.method} ${new URL(request.url).pathname}`,
    body: await request.json(),
  });
  return Response.json({ ...stored, warnings: ['A warning'] });
}

Object.assign(globalThis, { window: { location: { origin: 'http://console.test' } }, fetch: jest.fn(serve) });
const { changeUser } = await loadWeb<{
  changeUser(id: number, before: UserValues, after: UserValues): Promise<void>;
}>('pages/operations/users/change-user');
const { savePrompt } = await loadWeb<{
  savePrompt(id: string | null, before: PromptValues, after: PromptValues): Promise<string[]>;
}>('pages/operations/models/save-prompt');
const { savePreset } = await loadWeb<{
  savePreset(
    opened: Preset | null,
    values: { name: string; type: string; config: string },
  ): Promise<string[]>;
}>('pages/operations/models/save-preset');

beforeEach(() => {
  changes.length = 0;
  stored = PRESET;
});

describe('a form that was opened before others changed what it shows', () => {
  const user: UserValues = { name: 'Eve', email: 'eve@mill.example', admin: true, quota: '' };
  const prompt: PromptValues = { name: 'short', type: 'sys_prompt', content: 'Be brief.', isDefault: false };

  it.each([
    [{ quota: 500 }, { file_quota: 500 }],
    [{ email: '' }, { email: null }],
    [
      { admin: false, name: 'Eva' },
      { display_name: 'Eva', is_admin: false },
    ],
  ])('sends %j of a user alone', async (changed, body) => {
    await changeUser(7, user, { ...user, ...changed });
    expect(changes).toEqual([{ asked: 'PATCH /users/7', body }]);
  });

  it('takes a quota away by an empty field', async () => {
    await changeUser(7, { ...user, quota: 500 }, user);
    expect(changes).toEqual([{ asked: 'PATCH /users/7', body: { file_quota: null } }]);
  });

  it('sends of a prompt what was changed alone', async () => {
    await savePrompt('p1', prompt, { ...prompt, isDefault: true });
    expect(changes).toEqual([{ asked: 'PATCH /prompts/p1', body: { is_default: true } }]);
  });

  it('sends nothing that was not changed', async () => {
    await changeUser(7, user, { ...user });
    await savePrompt('p1', prompt, { ...prompt });
    await savePreset(PRESET, {
      name: 'wide',
      type: 'retrieval',
      config: JSON.stringify(PRESET.config, null, 2),
    });
    expect(changes).toEqual([]);
  });

  it('replaces no configuration that was saved meanwhile', async () => {
    stored = { ...PRESET, config: { rrf_k: 90 } };
    const saving = savePreset(PRESET, { name: 'wide', type: 'retrieval', config: '{"rrf_k": 30}' });
    await expect(saving).rejects.toMatchObject({ name: 'PresetChanged' });
    expect(changes).toEqual([]);
  });

  it('renames a preset without its configuration', async () => {
    stored = { ...PRESET, config: { rrf_k: 90 } };
    const config = JSON.stringify(PRESET.config, null, 2);
    await savePreset(PRESET, { name: 'wider', type: 'retrieval', config });
    expect(changes).toEqual([{ asked: 'PUT /presets/retrieval/wide', body: { name: 'wider' } }]);
  });
});

describe('a form of what is new, or as it was opened', () => {
  it('sends the whole configuration of a preset, and answers its warnings', async () => {
    const config = '{"rrf_k": 30}';
    expect(await savePreset(null, { name: 'new', type: 'retrieval', config })).toEqual(['A warning']);
    expect(await savePreset(PRESET, { name: 'wide', type: 'retrieval', config })).toEqual(['A warning']);
    expect(changes).toEqual([
      { asked: 'POST /presets/', body: { name: 'new', preset_type: 'retrieval', config: { rrf_k: 30 } } },
      { asked: 'PUT /presets/retrieval/wide', body: { config: { rrf_k: 30 } } },
    ]);
  });

  it('sends the whole of a new prompt', async () => {
    const values = { name: 'short', type: 'sys_prompt', content: 'Be brief.', isDefault: false };
    await savePrompt(null, values, values);
    const body = { prompt_type: 'sys_prompt', name: 'short', content: 'Be brief.', is_default: false };
    expect(changes).toEqual([{ asked: 'POST /prompts/', body }]);
  });
});
