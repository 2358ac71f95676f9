import { useFormat } from '../../../i18n/format';
import { useMessages } from '../../../i18n/language';
import { Facts } from '../../../shared/facts';
import { More } from '../../../shared/more';
import type { Migration } from './queries';

/** What a run has counted and compared: what its result was accepted by. */
export function MigrationFigures({ figures }: Pick<Migration['latest'][number], 'figures'>) {
  const { operations: t, server } = useMessages();
  const format = useFormat();
  const entries = Object.entries(figures);
  if (entries.length === 0) return null;
  return (
    <More label={t.figures}>
      <Facts
        label={t.figures}
        facts={entries.map(([name, count]) => [
          server.figures[name] ?? name.replaceAll('_', ' '),
          format.number(count),
        ])}
      />
    </More>
  );
}
