import { createMongoEvaluationRunStore } from '../../../activities/stores/mongo/retrieval/evaluation-run-store.js';
import { createFakeEvaluationRunStore } from '../../support/fakes/retrieval/fake-evaluation-run-store.js';
import { fake, mongo } from '../subject.js';
import { evaluationRunStoreContract } from './evaluation-run-store.contract.js';

for (const subject of [fake(createFakeEvaluationRunStore), ...mongo(createMongoEvaluationRunStore)])
  evaluationRunStoreContract(subject);
