import type { en } from './en';

/** Every text of the console; a language that lacks one does not compile. */
export type Messages = typeof en;
export type Language = 'en' | 'fr';
