import { createMongoQuestionSetStore } from '../../../activities/stores/mongo/retrieval/question-set-store.js';
import { createFakeQuestionSetStore } from '../../support/fakes/retrieval/fake-question-set-store.js';
import { fake, mongo } from '../subject.js';
import { questionSetStoreContract } from './question-set-store.contract.js';

for (const subject of [fake(createFakeQuestionSetStore), ...mongo(createMongoQuestionSetStore)])
  questionSetStoreContract(subject);
