import { useLocalStorage } from '@mantine/hooks';
import { createContext, use, useEffect, useMemo, useState } from 'react';
import type { ReactNode } from 'react';
import { en } from './en';
import type { Language, Messages } from './messages';

interface Choice {
  language: Language;
  messages: Messages;
  choose: (language: Language) => void;
}

const LanguageContext = createContext<Choice>({ language: 'en', messages: en, choose: () => {} });

/** English is at hand; another catalogue is loaded when it is wanted. */
async function load(language: Language): Promise<Messages> {
  return language === 'fr' ? (await import('./fr')).fr : en;
}

function preferred(): Language {
  return navigator.language.startsWith('fr') ? 'fr' : 'en';
}

export function LanguageProvider({ children }: { children: ReactNode }) {
  const [language, choose] = useLocalStorage<Language>({
    key: 'tamis-language',
    defaultValue: preferred(),
    getInitialValueInEffect: false,
  });
  const [messages, setMessages] = useState<Messages | null>(language === 'en' ? en : null);
  useEffect(() => {
    let stale = false;
    void load(language)
      .catch(() => en)
      .then((loaded) => {
        if (stale) return;
        setMessages(loaded);
        document.documentElement.lang = language;
      });
    return () => {
      stale = true;
    };
  }, [language]);
  const choice = useMemo(
    () => (messages === null ? null : { language, messages, choose }),
    [language, messages, choose],
  );
  return choice === null ? null : <LanguageContext value={choice}>{children}</LanguageContext>;
}

export function useLanguage(): Choice {
  return use(LanguageContext);
}

/** The texts of the chosen language. */
export function useMessages(): Messages {
  return useLanguage().messages;
}
