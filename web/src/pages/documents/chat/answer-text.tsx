import { Anchor, Button, Typography } from '@mantine/core';
import { memo, useMemo } from 'react';
import Markdown from 'react-markdown';
import type { Components, Options } from 'react-markdown';
import rehypeSanitize from 'rehype-sanitize';
import remarkGfm from 'remark-gfm';
import { useMessages } from '../../../i18n/language';
import { CITATION_LINK, linkCitations } from './link-citations';
import classes from './chat.module.css';

interface Props {
  text: string;
  /** The numbers of its sources. */
  known: ReadonlySet<number>;
  onSource: (number: number) => void;
}

const REHYPE = [rehypeSanitize];

/** A model's Markdown without anything that runs or is loaded from elsewhere: pictures are shown as their text. */
export const AnswerText = memo(({ text, known, onSource }: Props) => {
  const { ask: t } = useMessages();
  const plugins = useMemo((): Options['remarkPlugins'] => [remarkGfm, [linkCitations, { known }]], [known]);
  const components = useMemo(
    (): Components => ({
      img: ({ alt }) => <span>{alt}</span>,
      a: ({ href = '', children }) => {
        if (href.startsWith(CITATION_LINK)) {
          const number = Number(href.slice(CITATION_LINK.length));
          return (
            <Button
              size="compact-xs"
              variant="default"
              className={classes['citation'] ?? ''}
              aria-label={t.source(number)}
              onClick={() => onSource(number)}
            >
              {children}
            </Button>
          );
        }
        // What the sanitiser left no address of, and ways into this console that a model made up.
        if (!/^(?:https?:|mailto:)/i.test(href)) return <span>{children}</span>;
        return (
          <Anchor href={href} target="_blank" rel="noopener noreferrer nofollow">
            {children}
          </Anchor>
        );
      },
    }),
    [onSource, t],
  );
  return (
    <Typography className={classes['answer'] ?? ''}>
      <Markdown remarkPlugins={plugins} rehypePlugins={REHYPE} components={components}>
        {text}
      </Markdown>
    </Typography>
  );
});
AnswerText.displayName = 'AnswerText';
