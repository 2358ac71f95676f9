import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { seededPresets } from '../../../activities/models/seeds/seeded-presets.js';
import { parseConfig } from '../../../schemas/config/config.js';
import { unreadVariableNotes } from '../../../schemas/config/environment.js';
import type { IndexationConfig } from '../../../schemas/models/presets.js';

const TOKEN = 'a-token-of-sufficient-length';

describe('parseConfig', () => {
  it('listens on loopback only while authentication is off', () => {
    expect(parseConfig({}).http.host).toBe('127.0.0.1');
    expect(parseConfig({ ALLOW_NO_AUTH: 'true' }).http.host).toBe('::');
    expect(parseConfig({ AUTH_TOKEN: TOKEN }).http.host).toBe('::');
    expect(parseConfig({ AUTH_TOKEN: TOKEN, HOST: '10.1.2.3' }).http.host).toBe('10.1.2.3');
  });

  it('takes the port from the first of PORT and APP_PORT; PROXY_PORT is a port of its own for the proxy', () => {
    const ports = (env: Record<string, string>) => {
      const { port, proxyPort } = parseConfig(env).http;
      return [port, proxyPort];
    };
    expect(ports({})).toEqual([8080, null]);
    expect(ports({ APP_PORT: '9002', PORT: '9003' })).toEqual([9003, null]);
    expect(ports({ PROXY_PORT: '9001', APP_PORT: '9002' })).toEqual([9002, 9001]);
    expect(ports({ PROXY_PORT: '9001', PORT: '9001' })).toEqual([9001, null]);
    expect(ports({ PROXY_PORT: '9001', SERVICES: 'documents' })).toEqual([8080, null]);
  });

  it('does both jobs unless SERVICES names one; the proxy alone listens where PROXY_PORT says', () => {
    expect(parseConfig({}).services).toEqual({ documents: true, proxy: true });
    expect(parseConfig({ SERVICES: 'documents' }).services).toEqual({ documents: true, proxy: false });
    const SECRETS_KEY = Buffer.from('a key of 32 bytes for the tests!').toString('base64');
    const proxy = parseConfig({ SERVICES: 'proxy', PORT: '9003', PROXY_PORT: '9001', SECRETS_KEY });
    expect(proxy).toMatchObject({ services: { documents: false }, http: { port: 9001, proxyPort: null } });
    expect(() => parseConfig({ SERVICES: 'proxy' })).toThrow('SECRETS_KEY');
    expect(() => parseConfig({ SERVICES: 'proxies' })).toThrow('SERVICES');
  });

  it('takes an empty variable for an unset one', () => {
    expect(parseConfig({ AUTH_TOKEN: '', PORT: '' })).toMatchObject({
      auth: { token: null },
      http: { port: 8080 },
    });
  });

  it('starts with a variable that is not read, and tells of it', () => {
    const env = { AUTH_MODE: 'token', WEBSEARCH_PROVIDER: 'tavily', CHUNK_SIZE: '256' };
    expect(parseConfig(env)).toEqual(parseConfig({ CHUNK_SIZE: '256' }));
    expect(unreadVariableNotes(env)).toEqual([
      expect.stringMatching(/^WEBSEARCH_PROVIDER is set but not read: /),
    ]);
  });

  it('speaks TLS to Temporal as soon as something of it is set, unless told not to', () => {
    expect(parseConfig({}).temporal).toMatchObject({ tls: null, apiKey: null });
    expect(parseConfig({ TEMPORAL_API_KEY: 'key' }).temporal.tls).not.toBeNull();
    expect(parseConfig({ TEMPORAL_TLS_SERVER_NAME: 'name' }).temporal.tls).toMatchObject({
      serverName: 'name',
    });
    expect(parseConfig({ TEMPORAL_TLS: 'true' }).temporal.tls).toMatchObject({ ca: null });
    expect(parseConfig({ TEMPORAL_API_KEY: 'key', TEMPORAL_TLS: 'false' }).temporal.tls).toBeNull();
  });

  it('reads hosts of sentinels and clusters', () => {
    const read = (list: string) =>
      parseConfig({ REDIS_URL: 'redis://redis', REDIS_CLUSTER_NODES: list }).redis.clusterNodes;
    expect(read('one:6379, [2001:db8::2]:6380')).toEqual([
      { host: 'one', port: 6379 },
      { host: '2001:db8::2', port: 6380 },
    ]);
    for (const wrong of ['one', 'one:port', ',', 'redis://one:6379'])
      expect(() => read(wrong)).toThrow('REDIS_CLUSTER_NODES');
  });

  it('lets a worker serve some of the task queues, but not none', () => {
    expect(parseConfig({}).worker.taskQueues).toEqual(['documents', 'models', 'migrations', 'alerts']);
    expect(parseConfig({ WORKER_TASK_QUEUES: 'models,alerts' }).worker.taskQueues).toEqual([
      'models',
      'alerts',
    ]);
    for (const wrong of [
      { WORKER_TASK_QUEUES: 'signals' },
      { WORKER_TASK_QUEUES: 'alerts', SERVICES: 'documents' },
    ])
      expect(() => parseConfig(wrong)).toThrow('WORKER_TASK_QUEUES');
  });

  it('takes the queue of migrations for work of the proxy too, and of alerts none without its key', () => {
    const SECRETS_KEY = randomBytes(32).toString('base64');
    const queues = (WORKER_TASK_QUEUES: string, more: Record<string, string> = {}) =>
      parseConfig({ WORKER_TASK_QUEUES, ...more }).worker.taskQueues;
    expect(queues('migrations', { SERVICES: 'proxy', SECRETS_KEY })).toEqual(['migrations']);
    expect(queues('alerts', { SECRETS_KEY })).toEqual(['alerts']);
    expect(() => queues('alerts')).toThrow(
      /WORKER_TASK_QUEUES: alerts has no work .* SECRETS_KEY is not set/,
    );
    expect(() => queues('documents,models', { SERVICES: 'proxy', SECRETS_KEY })).toThrow('has no work');
  });

  it('refuses half of what belongs together, and names what is missing', () => {
    const problems: [Record<string, string>, string][] = [
      [{ OPENSEARCH_USERNAME: 'user' }, 'OPENSEARCH_PASSWORD: OPENSEARCH_USERNAME needs it'],
      [{ OPENSEARCH_PASSWORD: 'word' }, 'OPENSEARCH_USERNAME: OPENSEARCH_PASSWORD needs it'],
      [{ TEMPORAL_TLS_CLIENT_CERT_PATH: '/c.pem' }, 'TEMPORAL_TLS_CLIENT_KEY_PATH: '],
      [{ REDIS_SENTINELS: 'one:26379' }, 'REDIS_SENTINELS: REDIS_URL'],
      [
        { OPENSEARCH_AWS_REGION: 'eu-west-3', OPENSEARCH_USERNAME: 'user', OPENSEARCH_PASSWORD: 'word' },
        'OPENSEARCH_USERNAME: requests that are signed for AWS',
      ],
      [
        { REDIS_URL: 'redis://r', REDIS_SENTINELS: 's:1', REDIS_CLUSTER_NODES: 'n:1' },
        'REDIS_CLUSTER_NODES: sentinels know no cluster',
      ],
    ];
    for (const [env, sentence] of problems) expect(() => parseConfig(env)).toThrow(sentence);
  });

  it('takes a reranker without a server by its folder, and says what is missing or says nothing', () => {
    const onnx = { RERANKER_PROVIDER: 'onnx', RERANKER_MODEL: 'minilm', MODELS_DIR: '/models' };
    const config = parseConfig(onnx);
    expect(config.models).toMatchObject({
      modelsDirectory: '/models',
      reranker: { baseUrl: 'onnx:', modelName: 'minilm', provider: 'onnx', apiKey: null },
    });
    const problems: [Record<string, string | undefined>, string][] = [
      [{ RERANKER_MODEL: undefined }, 'RERANKER_MODEL: is needed with RERANKER_PROVIDER=onnx'],
      [{ MODELS_DIR: undefined }, 'MODELS_DIR: is needed with RERANKER_PROVIDER=onnx'],
      [{ RERANKER_MODEL: '../x' }, 'RERANKER_MODEL: must be the name of one folder in MODELS_DIR'],
      [{ RERANKER_BASE_URL: 'http://host' }, 'RERANKER_BASE_URL: there is no server'],
      [{ RERANKER_API_KEY: 'key' }, 'RERANKER_API_KEY: there is no server'],
    ];
    for (const [env, sentence] of problems)
      expect(() => parseConfig(JSON.parse(JSON.stringify({ ...onnx, ...env })))).toThrow(sentence);
    expect(parseConfig({ MODELS_DIR: '/models' }).models.reranker).toBeNull();
  });

  it('takes copies of the index as a number or a range', () => {
    expect(parseConfig({}).opensearch.shards).toBeNull();
    expect(parseConfig({ OPENSEARCH_INDEX_SHARDS: '12' }).opensearch.shards).toBe(12);
    for (const wrong of ['0', '1.5', 'many', '1025'])
      expect(() => parseConfig({ OPENSEARCH_INDEX_SHARDS: wrong })).toThrow('OPENSEARCH_INDEX_SHARDS');
    expect(parseConfig({}).opensearch.replicas).toBeNull();
    for (const replicas of ['0', '2', '0-1', '1-all'])
      expect(parseConfig({ OPENSEARCH_INDEX_REPLICAS: replicas }).opensearch.replicas).toBe(replicas);
    for (const wrong of ['-1', 'all', '1-', '1-2-3', 'two', '1.5'])
      expect(() => parseConfig({ OPENSEARCH_INDEX_REPLICAS: wrong })).toThrow('OPENSEARCH_INDEX_REPLICAS');
  });

  it('reads false as false', () => {
    expect(parseConfig({ SUPER_ADMIN_MODE: 'false' }).auth.superAdminMode).toBe(false);
    expect(parseConfig({ SUPER_ADMIN_MODE: 'true' }).auth.superAdminMode).toBe(true);
  });

  it('names every variable at fault', () => {
    const read = () => parseConfig({ PORT: 'eighty', CHUNK_OVERLAP_RATE: '1', OPENSEARCH_URL: 'nowhere' });
    expect(read).toThrow(/PORT.*\n.*(OPENSEARCH_URL|CHUNK_OVERLAP_RATE)/);
  });

  it('cannot be changed', () => {
    const config = parseConfig({});
    expect(() => Object.assign(config.http, { port: 1 })).toThrow(TypeError);
  });

  describe('model servers', () => {
    const SECRETS_KEY = Buffer.from('a key of 32 bytes for the tests!').toString('base64');

    it('are none by default', () => {
      expect(parseConfig({}).models).toMatchObject({ embedder: null, llm: null, ollamaUrl: null });
    });

    it('are read whole; a key that means none is none', () => {
      const { models } = parseConfig({
        EMBEDDER_BASE_URL: 'http://e:8000/v1',
        EMBEDDER_MODEL_NAME: 'e',
        EMBEDDER_API_KEY: 'EMPTY',
        BASE_URL: 'https://l/v1',
        MODEL: 'l',
        API_KEY: 'sk-1',
        LLM_PROVIDER: 'openai',
        SECRETS_KEY,
      });
      expect(models.embedder).toEqual({
        baseUrl: 'http://e:8000/v1',
        modelName: 'e',
        apiKey: null,
        provider: null,
      });
      expect(models.llm).toEqual({
        baseUrl: 'https://l/v1',
        modelName: 'l',
        apiKey: 'sk-1',
        provider: 'openai',
      });
    });

    it('a model without an address is on OLLAMA_HOST', () => {
      expect(parseConfig({ OLLAMA_HOST: 'gpu', MODEL: 'm' }).models.llm).toEqual({
        baseUrl: 'http://gpu:11434',
        modelName: 'm',
        apiKey: null,
        provider: 'ollama',
      });
    });

    it.each([
      ['EMBEDDER_MODEL_NAME', { EMBEDDER_BASE_URL: 'http://e' }],
      ['EMBEDDER_BASE_URL', { EMBEDDER_MODEL_NAME: 'e' }],
      ['MODEL', { BASE_URL: 'http://l' }],
      ['BASE_URL', { MODEL: 'l' }],
      ['BASE_URL', { BASE_URL: 'http://user:secret-word@l', MODEL: 'l' }],
      ['BASE_URL', { BASE_URL: 'ftp://l', MODEL: 'l' }],
      ['SECRETS_KEY', { BASE_URL: 'http://l', MODEL: 'l', API_KEY: 'sk-1' }],
      ['API_KEY', { BASE_URL: 'http://l', MODEL: 'l', API_KEY: 'sk-xxxx', SECRETS_KEY }],
      ['LLM_PROVIDER', { LLM_PROVIDER: 'other' }],
      ['OLLAMA_HOST', { OLLAMA_HOST: 'ftp://x' }],
      ['EMBEDDER_CONCURRENCY', { EMBEDDER_CONCURRENCY: '0' }],
    ])('names %s when %j does not make sense, and tells no secret', (name, env) => {
      expect(() => parseConfig(env)).toThrow(name);
      expect(() => parseConfig(env)).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('secret-word') }),
      );
    });

    it.each([
      ['127.0.0.1:11435', 'http://127.0.0.1:11435'],
      ['gpu', 'http://gpu:11434'],
      [':9', 'http://127.0.0.1:9'],
      ['0.0.0.0', 'http://127.0.0.1:11434'],
      ['http://gpu', 'http://gpu'],
      ['gpu:80', 'http://gpu'],
      ['https://gpu:1/sub/', 'https://gpu:1/sub'],
      ['[::1]:5', 'http://[::1]:5'],
    ])('reads OLLAMA_HOST=%s as Ollama does', (host, url) =>
      expect(parseConfig({ OLLAMA_HOST: host }).models.ollamaUrl).toBe(url),
    );
  });

  describe('the secret guard', () => {
    it.each([
      ['AUTH_TOKEN', 'short'],
      ['AUTH_TOKEN', 'SK-OpenRAG-1234'],
      ['AUTH_TOKEN', ' '.repeat(20)],
      ['AUTH_TOKEN', `short${' '.repeat(20)}`],
      ['AUTH_TOKEN', 'a'.repeat(40)],
      ['DASHBOARD_API_KEY', 'ababababababababab'],
      ['SECRETS_KEY', Buffer.alloc(32).toString('base64')],
      ['SECRETS_KEY', Buffer.alloc(32, 'ab').toString('base64')],
      ['METRICS_TOKEN', 'tiny'],
      ['DASHBOARD_API_KEY', 'replace-with-a-random-secret'],
      ['MONGODB_URL', 'mongodb://root:root_password@db'],
      ['OPENSEARCH_URL', 'https://admin:admin@search:9200'],
      ['GRAFANA_ADMIN_PASSWORD', 'grafana'],
    ])('refuses %s=%s and names it', (name, value) => {
      expect(() => parseConfig({ [name]: value })).toThrow(name);
      expect(() => parseConfig({ [name]: value, ALLOW_INSECURE_SECRETS: 'true' })).not.toThrow();
    });

    it('looks at the key before as well, which is nothing without its successor', () => {
      const SECRETS_KEY = Buffer.from('a key of 32 bytes for the tests!').toString('base64');
      const SECRETS_KEY_PREVIOUS = Buffer.from('the key of 32 bytes before that.').toString('base64');
      expect(parseConfig({ SECRETS_KEY, SECRETS_KEY_PREVIOUS }).formerSecretsKeys).toEqual([
        SECRETS_KEY_PREVIOUS,
      ]);
      expect(() => parseConfig({ SECRETS_KEY_PREVIOUS })).toThrow('SECRETS_KEY_PREVIOUS');
      const zeros = Buffer.alloc(32).toString('base64');
      expect(() => parseConfig({ SECRETS_KEY, SECRETS_KEY_PREVIOUS: zeros })).toThrow('SECRETS_KEY_PREVIOUS');
    });

    it.each(['true', 'TRUE', '1', 'yes', 'on'])(
      'is told by ALLOW_INSECURE_SECRETS=%s to let them pass',
      (flag) => {
        expect(() => parseConfig({ AUTH_TOKEN: 'short', ALLOW_INSECURE_SECRETS: flag })).not.toThrow();
      },
    );

    it.each(['false', '0', 'no', 'maybe'])(
      'refuses them all the same with ALLOW_INSECURE_SECRETS=%s',
      (flag) => {
        expect(() => parseConfig({ AUTH_TOKEN: 'short', ALLOW_INSECURE_SECRETS: flag })).toThrow(
          'AUTH_TOKEN',
        );
      },
    );

    it.each([
      ['MONGODB_URL', 'mongodb://u:100%-secret-words@db'],
      ['OPENSEARCH_URL', 'http://u:100%-secret-words@search:9200'],
      ['REDIS_URL', 'redis://u:100%-secret-words@redis'],
    ])('says of %s that a %% in its password is written otherwise', (name, value) => {
      const message = expect.stringMatching(`  ${name}: .*%25`);
      const refusal = { name: 'ConfigError', message };
      expect(() => parseConfig({ [name]: value })).toThrow(expect.objectContaining(refusal));
      expect(() => parseConfig({ [name]: value })).not.toThrow('words');
      expect(() => parseConfig({ [name]: value.replace('%', '%25') })).not.toThrow();
    });

    it('never prints the secret itself', () => {
      expect(() => parseConfig({ AUTH_TOKEN: 'hunter2' })).toThrow(
        expect.objectContaining({ message: expect.not.stringContaining('hunter2') }),
      );
    });

    it('lets strong secrets pass', () => {
      expect(
        parseConfig({ AUTH_TOKEN: TOKEN, MONGODB_URL: 'mongodb://u:long-enough-pass@db' }).auth.token,
      ).toBe(TOKEN);
    });
  });

  it('bounds no window of an embedder unless it is told to', () => {
    expect(parseConfig({}).models.maxModelLen).toBeNull();
    expect(parseConfig({ MAX_MODEL_LEN: '1000' }).models.maxModelLen).toBe(1000);
    expect(() => parseConfig({ MAX_MODEL_LEN: '15' })).toThrow(/MAX_MODEL_LEN/);
  });

  it('has pictures described where there is a vision model, unless it is told otherwise', () => {
    const vlm = { VLM_BASE_URL: 'http://10.0.0.5:8000/v1', VLM_MODEL: 'eye' };
    const captioning = (env: Record<string, string>) => {
      const preset = seededPresets(parseConfig(env)).find(({ name }) => name === 'default');
      return (preset?.config as IndexationConfig).enable_image_captioning;
    };
    expect([captioning({}), captioning(vlm)]).toEqual([false, true]);
    expect(captioning({ ...vlm, IMAGE_CAPTIONING: 'false' })).toBe(false);
    expect(captioning({ IMAGE_CAPTIONING: 'true' })).toBe(true);
    expect(parseConfig({ VLM_SEMAPHORE: '3' }).models.vlmConcurrency).toBe(3);
  });

  it('has documents cut as CHUNKER says, by the preset `default` alone', () => {
    const cutting = (env: Record<string, string>) =>
      seededPresets(parseConfig(env)).flatMap(({ name, preset_type, config }) =>
        preset_type === 'indexation' ? [[name, (config as IndexationConfig).chunking.name]] : [],
      );
    const others = [
      ['legal', 'recursive_splitter'],
      ['finance', 'recursive_splitter'],
    ];
    expect(cutting({})).toEqual([['default', 'recursive_splitter'], ...others]);
    expect(cutting({ CHUNKER: 'structured_section' })).toEqual([
      ['default', 'structured_section'],
      ...others,
    ]);
    expect(() => parseConfig({ CHUNKER: 'by-hand' })).toThrow(/CHUNKER/);
  });

  it('reads rates, with or without a number of units', () => {
    expect(parseConfig({}).rateLimits).toMatchObject({
      enabled: true,
      everything: { points: 600, seconds: 60 },
      auth: { points: 60, seconds: 60 },
      chat: { points: 120, seconds: 60 },
      authFailure: { points: 20, seconds: 60 },
      exemptPaths: ['/chainlit/', '/assets/'],
    });
    const read = (text: string) => parseConfig({ RATE_LIMIT_DEFAULT: text }).rateLimits.everything;
    expect(read('5/second')).toEqual({ points: 5, seconds: 1 });
    expect(read(' 100 per 5 Minutes ')).toEqual({ points: 100, seconds: 300 });
    expect(read('7/2hours')).toEqual({ points: 7, seconds: 7200 });
    for (const text of ['0/minute', 'many', '5', '5/fortnight', '-1/minute', '5/0minutes'])
      expect(() => read(text)).toThrow(/RATE_LIMIT_DEFAULT: must be a rate/);
  });

  it('takes networks for trusted proxies, and nothing else', () => {
    expect(parseConfig({}).http.trustedProxies).toEqual(['127.0.0.1']);
    const read = (text: string) => parseConfig({ UVICORN_FORWARDED_ALLOW_IPS: text }).http.trustedProxies;
    expect(read('10.0.0.0/8, fd00::/8,::1')).toEqual(['10.0.0.0/8', 'fd00::/8', '::1']);
    expect(read('*')).toEqual(['*']);
    expect(() => read('my-proxy')).toThrow(/UVICORN_FORWARDED_ALLOW_IPS/);
  });
});
