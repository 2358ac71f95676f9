import { ask } from './ask';
import { common } from './common';
import { documents } from './documents';
import { signals } from './signals';

export const en = { ask, common, documents, signals };
