import { Button, Group, Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useMessages } from '../../../i18n/language';
import { candidatesQuery, ROLES, useMemberChange } from './queries';
import type { Role } from './queries';

export function AddMember({ partition }: { partition: string }) {
  const { documents: t, common } = useMessages();
  const [search, setSearch] = useState('');
  const [user, setUser] = useState<string | null>(null);
  const [role, setRole] = useState<Role>('viewer');
  const [settled] = useDebouncedValue(search.trim(), 300);
  const candidates = useQuery(candidatesQuery(partition, settled));
  const change = useMemberChange(partition);
  const add = () => {
    if (user === null) return;
    change.mutate({ user: Number(user), add: role });
    setUser(null);
    setSearch('');
  };
  return (
    <Group align="end" gap="sm">
      <Select
        label={t.addMember}
        placeholder={t.findMember}
        searchable
        searchValue={search}
        onSearchChange={setSearch}
        value={user}
        onChange={setUser}
        // The server has searched already.
        filter={({ options }) => options}
        data={(candidates.data ?? []).map(({ user_id: id, display_name: name, email }) => ({
          value: String(id),
          label: [name ?? common.user(id), email].filter(Boolean).join(', '),
        }))}
        style={{ flex: '1 1 260px', maxWidth: 420 }}
      />
      <Select
        label={t.memberRole}
        data={ROLES.map((value) => ({ value, label: t.roles[value] }))}
        value={role}
        onChange={(value) => setRole(ROLES.find((one) => one === value) ?? 'viewer')}
        allowDeselect={false}
        w={160}
      />
      <Button onClick={add} disabled={user === null} loading={change.isPending}>
        {common.add}
      </Button>
    </Group>
  );
}
