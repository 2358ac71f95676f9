import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { askJson } from '../support/ask-json.js';
import { ADMIN_TOKEN, startGateway } from '../support/start-gateway.js';
import type { Gateway } from '../support/start-gateway.js';

let gateway: Gateway;
let ada: string;
beforeEach(async () => {
  gateway = await startGateway();
  ada = gateway.addUser('ada').token;
  await gateway.call('POST', '/partition/one', { token: ada });
});
afterEach(() => gateway.close());

function ask(method: string, path: string, body?: unknown, token = ADMIN_TOKEN) {
  return askJson(gateway, method, path, { body, token });
}

const FORBIDDEN = [403, { detail: 'Admin privileges required' }];

function DOMAIN(code: string) {
  return expect.objectContaining({ detail: expect.stringMatching(new RegExp(String.raw`^\[${code}\]: `)) });
}

const SMALL = {
  name: 'small',
  preset_type: 'indexation',
  config: { chunking: { name: 'structured_section', chunk_size: 64, chunk_overlap_rate: 0 } },
};

describe('GET /presets/options', () => {
  it('names the choices', async () => {
    expect(await ask('GET', '/presets/options', undefined, ada)).toEqual(FORBIDDEN);
    expect(await ask('GET', '/presets/options')).toEqual([
      200,
      {
        chunking_strategies: ['recursive_splitter', 'structured_section'],
        parsing_strategies: ['pymupdf', 'marker', 'docling'],
        retrieval_types: ['single', 'multiQuery', 'hyde'],
        reranker_providers: ['infinity', 'openai', 'tei', 'onnx'],
        default_top_n: 10,
      },
    ]);
  });
});

describe('GET /presets/', () => {
  it('lists what is seeded, in both slash forms, with who uses it', async () => {
    expect(await ask('GET', '/presets/', undefined, ada)).toEqual(FORBIDDEN);
    for (const path of ['/presets', '/presets/']) {
      const [status, body] = await ask('GET', path);
      expect(status).toBe(200);
      const shown = body.map((one: Record<string, unknown>) => [
        one['preset_type'],
        one['name'],
        one['used_by_partitions'],
      ]);
      expect(shown).toEqual([
        ['indexation', 'default', 1],
        ['indexation', 'finance', 0],
        ['indexation', 'legal', 0],
        ['retrieval', 'default', 1],
        ['retrieval', 'hyde', 0],
        ['retrieval', 'multiquery', 0],
      ]);
    }
    expect((await ask('GET', '/presets/?preset_type=retrieval'))[1]).toHaveLength(3);
    expect((await ask('GET', '/presets/?preset_type=other'))[0]).toBe(422);
  });
});

describe('POST /presets/', () => {
  it('creates one; what is not said has its default, unknown keys are named', async () => {
    expect(await ask('POST', '/presets/', SMALL, ada)).toEqual(FORBIDDEN);
    const config = { type: 'hyde', top_k: 7, compression_ratio: 2, similarity_threshold: 0.4 };
    const [status, body] = await ask('POST', '/presets/', { name: 'mine', preset_type: 'retrieval', config });
    expect([status, body]).toEqual([
      201,
      {
        name: 'mine',
        preset_type: 'retrieval',
        used_by_partitions: 0,
        created_at: expect.any(String),
        updated_at: expect.any(String),
        warnings: ['config.compression_ratio is not known and is ignored'],
        config: {
          type: 'hyde',
          reranker: null,
          llm: null,
          top_k: 7,
          top_n: null,
          enable_reranker: false,
          similarity_threshold: 0.4,
          vector_weight: null,
          include_related: true,
          include_ancestors: true,
          rrf_k: 60,
          hyde_prompt_name: null,
          multi_query_prompt_name: null,
          query_contextualizer_prompt_name: null,
        },
      },
    ]);
    const { warnings: _, ...kept } = body;
    expect((await ask('GET', '/presets/retrieval/mine'))[1]).toEqual(kept);
    const again = { name: 'mine', preset_type: 'retrieval', config: {} };
    expect(await ask('POST', '/presets/', again)).toEqual([409, DOMAIN('PRESET_EXISTS')]);
    expect((await ask('POST', '/presets/', { ...again, preset_type: 'indexation' }))[1].config).toMatchObject(
      {
        chunking: { name: 'recursive_splitter', chunk_size: 512, chunk_overlap_rate: 0.2 },
        max_topic_tags: 7,
      },
    );
  });

  it.each([
    ['retrieval', { top_k: 0 }],
    ['retrieval', { top_k: 1001 }],
    ['retrieval', { top_k: '5' }],
    ['retrieval', { type: 'double' }],
    ['retrieval', { similarity_threshold: 1.1 }],
    ['retrieval', { vector_weight: -0.1 }],
    ['retrieval', { vector_weight: 1.1 }],
    ['retrieval', { vector_weight: '0.5' }],
    ['retrieval', []],
    ['indexation', { chunking: { chunk_size: 8 } }],
    ['indexation', { chunking: { chunk_overlap_rate: 1 } }],
    ['indexation', { chunking: { name: 'semantic' } }],
    ['indexation', { parsing_strategy: 'other' }],
    ['indexation', { ocr_languages: 'german' }],
    ['indexation', { ocr_languages: 'deu;eng' }],
    ['indexation', { contextualization_mode: 'both' }],
    ['indexation', { entity_labels: 'x' }],
    ['other', {}],
  ])('refuses a config of type %s that is %j', async (preset_type, config) => {
    expect((await ask('POST', '/presets/', { name: 'x', preset_type, config }))[0]).toBe(422);
  });

  it.each([
    ['retrieval', { llm: 'nobody' }, 'MODEL_ENDPOINT_NOT_FOUND'],
    ['retrieval', { reranker: 'builtin-extractive' }, 'MODEL_ENDPOINT_NOT_FOUND'],
    ['indexation', { vlm: 'nobody' }, 'MODEL_ENDPOINT_NOT_FOUND'],
    ['retrieval', { hyde_prompt_name: 'nothing' }, 'PROMPT_NOT_FOUND'],
    ['indexation', { topic_tagger_prompt_name: 'nothing' }, 'PROMPT_NOT_FOUND'],
    ['indexation', { topic_tagging_prompt_name: 'nothing' }, 'PROMPT_NOT_FOUND'],
    ['indexation', { contextualization_prompt_name: 'nothing' }, 'PROMPT_NOT_FOUND'],
    ['indexation', { topic_tagging_llm: 'nobody' }, 'MODEL_ENDPOINT_NOT_FOUND'],
  ])('refuses a %s preset that names %j, which is not there', async (preset_type, config, code) => {
    expect(await ask('POST', '/presets/', { name: 'x', preset_type, config })).toEqual([422, DOMAIN(code)]);
    expect((await ask('GET', `/presets/${preset_type}/x`))[0]).toBe(404);
  });

  it('takes names that are there, the word default, and nothing', async () => {
    const config = { llm: 'builtin-extractive', reranker: 'default', hyde_prompt_name: 'default' };
    expect((await ask('POST', '/presets/', { name: 'x', preset_type: 'retrieval', config }))[0]).toBe(201);
    const empty = { name: 'y', preset_type: 'retrieval', config: { llm: '' } };
    expect((await ask('POST', '/presets/', empty))[1].config.llm).toBeNull();
    for (const name of ['', '/', '.x', 'x'.repeat(129)])
      expect((await ask('POST', '/presets/', { ...SMALL, name }))[0]).toBe(422);
  });
});

describe('the config of an indexation preset', () => {
  const create = (config: object, name = 'rich') =>
    ask('POST', '/presets/', { name, preset_type: 'indexation', config });
  const prompt = (prompt_type: string, name: string) =>
    ask('POST', '/prompts/', { prompt_type, name, content: 'Words.' });
  beforeEach(async () => {
    await prompt('chunk_contextualizer', 'place');
    await prompt('topic_tagger', 'topics');
  });

  it('names a prompt and a model for each enrichment, and what they name follows a new name', async () => {
    const config = {
      enable_contextualization: true,
      contextualization_prompt_name: 'place',
      enable_topic_tagging: true,
      topic_tagging_prompt_name: 'topics',
      topic_tagging_llm: 'builtin-extractive',
    };
    const [status, body] = await create(config);
    expect([status, body.config]).toEqual([201, expect.objectContaining(config)]);
    expect(body).not.toHaveProperty('warnings');
    const [, [, topics]] = await ask('GET', '/prompts/?prompt_type=topic_tagger');
    expect(topics).toMatchObject({ name: 'topics', used_by: 1 });
    await ask('PATCH', `/prompts/${topics.id}`, { name: 'subjects' });
    expect((await ask('GET', '/presets/indexation/rich'))[1].config.topic_tagging_prompt_name).toBe(
      'subjects',
    );
    expect((await ask('DELETE', '/model-endpoints/llm/builtin-extractive'))[0]).toBe(409);
  });

  it('takes the earlier names of prompts, and answers those of now', async () => {
    const earlier = { chunk_contextualizer_prompt_name: 'place', topic_tagger_prompt_name: 'topics' };
    const [, { config, warnings }] = await create(earlier);
    expect([config, warnings]).toEqual([
      expect.objectContaining({
        contextualization_prompt_name: 'place',
        topic_tagging_prompt_name: 'topics',
      }),
      undefined,
    ]);
    for (const name of Object.keys(earlier)) expect(config).not.toHaveProperty(name);
    const both = { ...earlier, contextualization_prompt_name: null, topic_tagging_prompt_name: '' };
    expect((await ask('PUT', '/presets/indexation/rich', { config: both }))[1]).toMatchObject({
      config: { contextualization_prompt_name: null, topic_tagging_prompt_name: null },
      warnings: [
        'config.chunk_contextualizer_prompt_name is ignored: config.contextualization_prompt_name is given',
        'config.topic_tagger_prompt_name is ignored: config.topic_tagging_prompt_name is given',
      ],
    });
  });

  it('contextualises simply where it is enabled without a mode', async () => {
    const enabled = { enable_contextualization: true };
    const modeOf = async (config: object, name: string) => {
      const [, body] = await create(config, name);
      return [body.config.contextualization_mode, (body.warnings ?? []).length] as unknown;
    };
    expect(await modeOf({}, 'a')).toEqual(['none', 0]);
    expect(await modeOf(enabled, 'b')).toEqual(['simple', 0]);
    expect(await modeOf({ ...enabled, contextualization_mode: 'structured' }, 'c')).toEqual([
      'structured',
      0,
    ]);
    // A form that has no field for the mode returns the one that it was given.
    const [, { config: loaded }] = await ask('GET', '/presets/indexation/a');
    const [, saved] = await ask('PUT', '/presets/indexation/a', { config: { ...loaded, ...enabled } });
    expect([saved.config.contextualization_mode, saved.warnings]).toEqual([
      'simple',
      [expect.stringContaining('contextualization_mode')],
    ]);
  });

  it('is answered with a warning for each unknown key, and takes what it answered without one', async () => {
    const unknown = { metadata_extraction_llm: 'x', chunking: { chunk_size: 64, strategy: 'y' } };
    const [status, { warnings }] = await create({ ...unknown, ['k'.repeat(500)]: 1 });
    expect([status, warnings]).toEqual([
      201,
      [
        'config.metadata_extraction_llm is not known and is ignored',
        `config.${'k'.repeat(100)} is not known and is ignored`,
        'config.chunking.strategy is not known and is ignored',
      ],
    ]);
    const [, { config }] = await ask('GET', '/presets/indexation/rich');
    expect(config.chunking).toEqual({ name: 'recursive_splitter', chunk_size: 64, chunk_overlap_rate: 0.2 });
    expect((await ask('PUT', '/presets/indexation/rich', { config }))[1]).not.toHaveProperty('warnings');
    const many = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`key${index}`, index]));
    const [, flooded] = await ask('PUT', '/presets/indexation/rich', { config: many });
    expect([flooded.warnings.length, flooded.warnings.at(-1)]).toEqual([51, 'and 10 more']);
  });
});

describe('PUT /presets/{type}/{name}', () => {
  const usedBy = async (name: string) =>
    (await ask('GET', `/presets/indexation/${name}`))[1].used_by_partitions;

  it('changes the config, of seeded ones too, for good', async () => {
    const path = '/presets/indexation/default';
    expect(await ask('PUT', path, {}, ada)).toEqual(FORBIDDEN);
    expect((await ask('PUT', '/presets/indexation/none', {}))[0]).toBe(404);
    const chunking = { name: 'recursive_splitter', chunk_size: 99, chunk_overlap_rate: 0.5 };
    expect((await ask('PUT', path, { config: { chunking } }))[1].config.chunking).toEqual(chunking);
    const [, settings] = await ask('GET', '/partition/one/config', undefined, ada);
    expect(settings.indexation_pipeline.chunking).toEqual(chunking);
    expect((await ask('PUT', path, { config: { chunking: { chunk_size: 1 } } }))[0]).toBe(422);
    expect((await ask('PUT', path, { config: { vlm: 'nobody' } }))[0]).toBe(422);
    // The next start leaves it alone.
    const { presets } = gateway.adapters;
    const edited = await presets.get('indexation', 'default');
    await presets.seed({ ...edited!, config: { ...edited!.config, max_topic_tags: 1 } });
    expect(await presets.get('indexation', 'default')).toEqual(edited);
  });

  it('takes a new name, and partitions follow', async () => {
    await ask('POST', '/presets/', SMALL);
    await ask('PATCH', '/partition/one', { indexation_preset: 'small' }, ada);
    const [status, body] = await ask('PUT', '/presets/indexation/small', { name: 'tiny' });
    expect([status, body]).toEqual([200, expect.objectContaining({ name: 'tiny', used_by_partitions: 1 })]);
    expect((await ask('GET', '/presets/indexation/small'))[0]).toBe(404);
    expect((await ask('GET', '/partition/one/config', undefined, ada))[1].indexation_preset).toBe('tiny');
    expect(await ask('PUT', '/presets/indexation/tiny', { name: 'legal' })).toEqual([
      409,
      DOMAIN('PRESET_EXISTS'),
    ]);
    expect((await ask('PUT', '/presets/indexation/default', { name: 'other' }))[0]).toBe(422);
    expect(await usedBy('tiny')).toBe(1);
  });
});

describe('DELETE /presets/{type}/{name}', () => {
  it('spares what is in use, and the default', async () => {
    await ask('POST', '/presets/', SMALL);
    const path = '/presets/indexation/small';
    expect(await ask('DELETE', path, undefined, ada)).toEqual(FORBIDDEN);
    await ask('PATCH', '/partition/one', { indexation_preset: 'small' }, ada);
    expect(await ask('DELETE', path)).toEqual([409, DOMAIN('PRESET_IN_USE')]);
    await ask('PATCH', '/partition/one', { indexation_preset: 'default' }, ada);
    expect(await ask('DELETE', path)).toEqual([204, '']);
    expect((await ask('DELETE', path))[0]).toBe(404);
    await ask('PATCH', '/partition/one', { retrieval_preset: 'hyde' }, ada);
    expect((await ask('DELETE', '/presets/retrieval/default'))[0]).toBe(409);
  });
});
