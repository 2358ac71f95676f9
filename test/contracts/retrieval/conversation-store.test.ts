import { createMongoConversationStore } from '../../../activities/stores/mongo/retrieval/conversation-store.js';
import { createFakeConversationStore } from '../../support/fakes/retrieval/fake-conversation-store.js';
import { fake, mongo } from '../subject.js';
import { conversationStoreContract } from './conversation-store.contract.js';

for (const subject of [fake(createFakeConversationStore), ...mongo(createMongoConversationStore)])
  conversationStoreContract(subject);
