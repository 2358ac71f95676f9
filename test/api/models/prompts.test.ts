import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { BUNDLED_PROMPTS } from '../../../activities/models/seeds/bundled-prompts.js';
import { PROMPT_SLOTS, PROMPT_TYPES, promptSlots } from '../../../schemas/models/prompts.js';
import { askJson } from '../support/ask-json.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

let gateway: Gateway;
let ada: string;
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada').token;
});
afterEach(() => gateway.close());

function ask(method: string, path: string, body?: unknown, token = ADMIN_TOKEN) {
  return askJson(gateway, method, path, { body, token });
}

function write(body: object) {
  return ask('POST', '/prompts/', {
    prompt_type: 'sys_prompt',
    name: 'strict',
    content: 'Be strict.',
    ...body,
  });
}

const FORBIDDEN = [403, { detail: 'Admin privileges required' }];

function DOMAIN(code: string) {
  return expect.objectContaining({ detail: expect.stringMatching(new RegExp(String.raw`^\[${code}\]: `)) });
}

describe('the bundled texts', () => {
  it('use the slots of their types only', () => {
    for (const type of PROMPT_TYPES)
      expect(PROMPT_SLOTS[type]).toEqual(expect.arrayContaining(promptSlots(BUNDLED_PROMPTS[type])));
  });
});

describe('GET /prompts/', () => {
  it('lists the default of every type, by pages, in both slash forms', async () => {
    expect(await ask('GET', '/prompts/', undefined, ada)).toEqual(FORBIDDEN);
    const [, all] = await ask('GET', '/prompts');
    expect(all.map(({ prompt_type: type }: { prompt_type: string }) => type)).toEqual(
      [...PROMPT_TYPES].sort(),
    );
    expect(
      all.every((one: { is_default: boolean; name: string }) => one.is_default && one.name === 'default'),
    ).toBe(true);
    await write({});
    const [, typed] = await ask('GET', '/prompts/?prompt_type=sys_prompt');
    expect(typed.map(({ name }: { name: string }) => name)).toEqual(['default', 'strict']);
    const [, page] = await ask('GET', '/prompts/?prompt_type=sys_prompt&offset=1&limit=1');
    expect(page.map(({ name }: { name: string }) => name)).toEqual(['strict']);
    for (const query of ['limit=0', 'limit=501', 'offset=-1', 'prompt_type=other'])
      expect((await ask('GET', `/prompts/?${query}`))[0]).toBe(422);
  });
});

describe('POST /prompts/', () => {
  it('keeps a prompt', async () => {
    expect(await ask('POST', '/prompts/', {}, ada)).toEqual(FORBIDDEN);
    const content = 'Answer from {context}. Braces: {{"a": 1}}. Today is {current_date}.';
    const [status, body] = await write({ content });
    expect([status, body]).toEqual([
      201,
      {
        id: expect.any(String),
        prompt_type: 'sys_prompt',
        name: 'strict',
        content,
        is_default: false,
        created_at: expect.any(String),
        updated_at: expect.any(String),
        used_by: 0,
        used_by_names: [],
      },
    ]);
    expect((await ask('GET', `/prompts/${body.id}`))[1]).toEqual(body);
    expect(await write({})).toEqual([409, DOMAIN('PROMPT_EXISTS')]);
    expect((await write({ prompt_type: 'hyde', content: '{query}' }))[0]).toBe(201);
  });

  it('can make it the default at once', async () => {
    expect((await write({ is_default: true }))[1].is_default).toBe(true);
    expect((await ask('GET', '/prompts/bundled-sys-prompt'))[1].is_default).toBe(false);
    expect(await gateway.adapters.promptSource.text('sys_prompt')).toBe('Be strict.');
    // One that is refused changes no default.
    expect((await write({ is_default: true, content: 'Twin.' }))[0]).toBe(409);
    expect((await write({ name: 'other', is_default: false }))[1].is_default).toBe(false);
    expect(await gateway.adapters.promptSource.text('sys_prompt')).toBe('Be strict.');
  });

  it.each([
    { prompt_type: 'other' },
    { is_default: 'yes' },
    { default: true },
    { name: '' },
    { name: 'a/b' },
    { content: '   ' },
    { content: 'x'.repeat(100_001) },
    { content: '{unknown}' },
    { content: '{context.__class__}' },
    { content: '{context!r}' },
    { content: '{context:>10}' },
    { prompt_type: 'image_captioning', content: '{context}' },
  ])('refuses %j', async (fault) => {
    expect((await write(fault))[0]).toBe(422);
  });
});

describe('GET, PATCH and DELETE /prompts/{id}', () => {
  it('are for administrators, and know what is not there', async () => {
    for (const method of ['GET', 'PATCH', 'DELETE']) {
      expect(await ask(method, '/prompts/x', method === 'PATCH' ? {} : undefined, ada)).toEqual(FORBIDDEN);
      expect((await ask(method, '/prompts/x', method === 'PATCH' ? {} : undefined))[0]).toBe(404);
    }
  });

  it('change words and name, and what names it follows', async () => {
    const [, { id }] = await write({});
    await gateway.call('POST', '/partition/one', { token: ada });
    await ask('PATCH', '/partition/one', { generation_prompt_names: { sys_prompt: 'strict' } }, ada);
    const [, hyde] = await write({ prompt_type: 'hyde', name: 'dream', content: '{query}' });
    const preset = { name: 'p', preset_type: 'retrieval', config: { hyde_prompt_name: 'dream' } };
    expect((await ask('POST', '/presets/', preset))[0]).toBe(201);
    expect((await ask('GET', `/prompts/${id}`))[1]).toMatchObject({
      used_by: 1,
      used_by_names: [{ kind: 'partition', name: 'one' }],
    });
    expect((await ask('PATCH', `/prompts/${id}`, { name: 'kind', content: 'Be kind.' }))[1]).toMatchObject({
      name: 'kind',
      content: 'Be kind.',
      used_by_names: [{ kind: 'partition', name: 'one' }],
    });
    expect((await ask('PATCH', `/prompts/${hyde.id}`, { name: 'vision' }))[1].used_by_names).toEqual([
      { kind: 'retrieval preset', name: 'p' },
    ]);
    expect((await ask('GET', '/presets/retrieval/p'))[1].config.hyde_prompt_name).toBe('vision');
    const [, settings] = await ask('GET', '/partition/one/config', undefined, ada);
    expect(settings.generation_prompt_names).toEqual({ sys_prompt: 'kind' });
    expect((await ask('PATCH', `/prompts/${id}`, { content: '{nothing}' }))[0]).toBe(422);
    expect(await ask('PATCH', `/prompts/${id}`, { name: 'default' })).toEqual([409, DOMAIN('PROMPT_EXISTS')]);
  });

  it('make it the default, and never leave a type without one', async () => {
    const [, { id }] = await write({});
    expect((await ask('PATCH', `/prompts/${id}`, { is_default: true }))[1]).toMatchObject({
      name: 'strict',
      content: 'Be strict.',
      is_default: true,
    });
    expect((await ask('GET', '/prompts/bundled-sys-prompt'))[1].is_default).toBe(false);
    const edit = { name: 'kind', content: 'Be kind.', is_default: true };
    expect((await ask('PATCH', `/prompts/${id}`, edit))[1]).toMatchObject(edit);
    expect((await ask('PATCH', `/prompts/${id}`, { name: 'x', is_default: false }))[0]).toBe(422);
    expect((await ask('GET', `/prompts/${id}`))[1]).toMatchObject(edit);
    expect((await ask('PATCH', '/prompts/bundled-sys-prompt', { is_default: false }))[0]).toBe(200);
    for (const body of [{ default: true }, { used_by: 3 }, { is_default: 1 }, { name: null }])
      expect([body, (await ask('PATCH', `/prompts/${id}`, body))[0]]).toEqual([body, 422]);
    // Becoming the default is no edit: a bundled text follows the next release.
    await ask('PATCH', '/prompts/bundled-sys-prompt', { is_default: true });
    await gateway.adapters.prompts.seed({ ...BUNDLED_PROMPTS, sys_prompt: 'newer' });
    expect(await gateway.adapters.promptSource.text('sys_prompt')).toBe('newer');
  });

  it('delete all but a default', async () => {
    const [, { id }] = await write({});
    expect((await ask('PUT', `/prompts/${id}/default`))[1].is_default).toBe(true);
    expect((await ask('DELETE', `/prompts/${id}`))[0]).toBe(409);
    await ask('PUT', '/prompts/bundled-sys-prompt/default');
    expect(await ask('DELETE', `/prompts/${id}`)).toEqual([204, '']);
    expect((await ask('GET', `/prompts/${id}`))[0]).toBe(404);
  });
});

describe('PUT /prompts/{id}/default', () => {
  it('demotes the former one; an unknown id changes nothing', async () => {
    const [, { id }] = await write({});
    expect(await ask('PUT', `/prompts/${id}/default`, undefined, ada)).toEqual(FORBIDDEN);
    expect((await ask('PUT', '/prompts/x/default'))[0]).toBe(404);
    await ask('PUT', `/prompts/${id}/default`);
    const [, all] = await ask('GET', '/prompts/?prompt_type=sys_prompt');
    expect(all.map((one: { name: string; is_default: boolean }) => [one.name, one.is_default])).toEqual([
      ['default', false],
      ['strict', true],
    ]);
  });
});

describe('which prompt serves', () => {
  it('is the named one, else the default, else the bundled text', async () => {
    const { promptSource: source } = gateway.adapters;
    const [, named] = await write({ content: 'named' });
    await ask('PATCH', '/prompts/bundled-sys-prompt', { content: 'default' });
    expect(await source.text('sys_prompt', 'strict')).toBe('named');
    expect(await source.text('sys_prompt')).toBe('default');
    await ask('DELETE', `/prompts/${named.id}`);
    expect(await source.text('sys_prompt', 'strict')).toBe('default');
    expect(await source.text('hyde', null)).toBe(BUNDLED_PROMPTS.hyde);
  });
});
