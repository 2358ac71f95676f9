import { createMongoFeedbackStore } from '../../../activities/stores/mongo/retrieval/feedback-store.js';
import { createFakeFeedbackStore } from '../../support/fakes/retrieval/fake-feedback-store.js';
import { fake, mongo } from '../subject.js';
import { feedbackStoreContract } from './feedback-store.contract.js';

for (const subject of [fake(createFakeFeedbackStore), ...mongo(createMongoFeedbackStore)])
  feedbackStoreContract(subject);
