import type { Messages } from '../messages';
import { ask } from './ask';
import { common } from './common';
import { documents } from './documents';
import { signals } from './signals';

export const fr: Messages = { ask, common, documents, signals };
