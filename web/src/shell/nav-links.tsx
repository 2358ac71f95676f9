import { NavLink, Text } from '@mantine/core';
import { Link, useLocation } from 'wouter';
import type { Session } from '../api/session';
import { useMessages } from '../i18n/language';
import { Icon } from '../shared/icons';
import { activePath, sectionsFor } from './navigation';

export function NavLinks({ session, onChoose }: { session: Session; onChoose: () => void }) {
  const { common: t } = useMessages();
  const [location] = useLocation();
  const sections = sectionsFor(session, t);
  const active = activePath(sections, location);
  return sections.map(({ label, entries }) => (
    <div key={label} role="group" aria-label={label} style={{ marginBottom: 16 }}>
      <Text size="xs" c="dimmed" fw={700} tt="uppercase" px="sm" mb={4}>
        {label}
      </Text>
      {entries.map((entry) => (
        <NavLink
          key={entry.path}
          component={Link}
          href={entry.path}
          label={entry.label}
          leftSection={<Icon name={entry.icon} />}
          active={entry.path === active}
          aria-current={entry.path === active ? 'page' : undefined}
          onClick={onChoose}
          style={{ borderRadius: 8 }}
        />
      ))}
    </div>
  ));
}
