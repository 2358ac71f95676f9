import { foldText, wordsOf } from '../../text/fold-text.js';

/**
 * Messages that no document can answer, in English and French: greetings, thanks, farewells, and questions about the
 * assistant itself. Only a whole message counts; anything beyond it may be a question.
 */
const PHRASES = [
  ...['hi', 'hello', 'hey', 'hi there', 'hello there', 'hey there', 'good morning', 'good afternoon'],
  ...[
    'good evening',
    'how are you',
    'how are you doing',
    'hi how are you',
    'hello how are you',
    'nice to meet you',
  ],
  ...[
    'thanks',
    'thank you',
    'thanks a lot',
    'thank you very much',
    'thank you so much',
    'many thanks',
    'thx',
  ],
  ...[
    'ok',
    'okay',
    'ok thanks',
    'ok thank you',
    'okay thanks',
    'great',
    'great thanks',
    'perfect',
    'perfect thanks',
  ],
  ...['cool', 'nice', 'got it', 'understood', 'you re welcome'],
  ...['bye', 'goodbye', 'good bye', 'bye bye', 'see you', 'see you later', 'see you soon', 'good night'],
  ...['have a nice day', 'have a good day'],
  ...['who are you', 'what are you', 'what can you do', 'what do you do', 'how can you help me'],
  ...['salut', 'bonjour', 'bonsoir', 'coucou', 'bonjour a tous', 'salut ca va', 'bonjour ca va', 'ca va'],
  ...['comment ca va', 'comment allez vous', 'comment vas tu', 'bonjour comment allez vous', 'enchante'],
  ...[
    'merci',
    'merci beaucoup',
    'merci bien',
    'grand merci',
    'un grand merci',
    'ok merci',
    'd accord',
    'd accord merci',
  ],
  ...[
    'parfait',
    'parfait merci',
    'super',
    'super merci',
    'tres bien',
    'tres bien merci',
    'compris',
    'de rien',
  ],
  ...[
    'au revoir',
    'a bientot',
    'a plus',
    'a plus tard',
    'a demain',
    'bonne nuit',
    'bonne journee',
    'bonne soiree',
  ],
  ...['qui es tu', 'qui etes vous', 'que peux tu faire', 'que pouvez vous faire', 'que sais tu faire'],
  ...['comment peux tu m aider', 'comment pouvez vous m aider'],
];

const CASUAL: ReadonlySet<string> = new Set(PHRASES);
/** Longer than any of them. */
const MAX_LENGTH = 60;

/** Whether a message is small talk that needs no retrieval; case, accents, punctuation and emoji aside. */
export const isCasual = (message: string): boolean =>
  message.length <= MAX_LENGTH && CASUAL.has(wordsOf(foldText(message)).join(' '));
