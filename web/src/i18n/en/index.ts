import { ask } from './ask';
import { common } from './common';
import { documents } from './documents';

export const en = { ask, common, documents };
