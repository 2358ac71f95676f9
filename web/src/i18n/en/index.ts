import { common } from './common';
import { documents } from './documents';

export const en = { common, documents };
