import type { Embedder, LanguageModel } from '../../../activities/ports/models.js';
import { modelEnvironment, openModels } from '../../support/model-server/open-models.js';
import { startScriptedModelServer } from '../../support/model-server/scripted-model-server.js';
import { embedderContract } from './embedder.contract.js';
import { languageModelContract } from './language-model.contract.js';
import type { Subject } from '../subject.js';

type Provider = 'ollama' | 'openai' | undefined;

async function builtin() {
  const models = await openModels({});
  return { models, close: () => models.close() };
}

function scripted(provider: Provider) {
  return async () => {
    const server = await startScriptedModelServer({
      answer: () => Array.from({ length: 60 }, (_, index) => `word${index}`).join(' '),
    });
    const models = await openModels(modelEnvironment(server, provider));
    return {
      models,
      close: async () => {
        await models.close();
        await server.close();
      },
    };
  };
}

const SUBJECTS = [
  ['built-in', builtin],
  ['Ollama, scripted', scripted('ollama')],
  ['OpenAI format, scripted', scripted('openai')],
  ['found by probing, scripted', scripted(undefined)],
] as const;

for (const [name, open] of SUBJECTS) {
  const embedder: Subject<Embedder> = {
    name,
    async open() {
      const { models, close } = await open();
      const chosen = (await models.registry.defaultName('embedder')) ?? '';
      return { store: await models.registry.embedder(chosen), close };
    },
  };
  embedderContract(embedder);
  const languageModel: Subject<LanguageModel> = {
    name,
    async open() {
      const { models, close } = await open();
      return { store: await models.registry.languageModel(), close };
    },
  };
  languageModelContract(languageModel);
}
