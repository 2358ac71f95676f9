import { Select, Table } from '@mantine/core';
import { useMessages } from '../../../i18n/language';
import { ConfirmButton } from '../../../shared/confirm-button';
import { ScrollTable } from '../../../shared/scroll-table';
import { Time } from '../../../shared/time';
import { ROLES, useMemberChange } from './queries';
import type { Member } from './queries';

export function MembersTable({ partition, members }: { partition: string; members: readonly Member[] }) {
  const { documents: t, common } = useMessages();
  const change = useMemberChange(partition);
  return (
    <ScrollTable label={t.members} minWidth={640}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{common.name}</Table.Th>
          <Table.Th>{t.memberRole}</Table.Th>
          <Table.Th>{t.added}</Table.Th>
          <Table.Th>{common.actions}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {members.map(({ user_id: user, display_name: given, email, role, added_at: added }) => {
          const name = given ?? common.user(user);
          return (
            <Table.Tr key={user}>
              <Table.Td>
                {name} {email}
              </Table.Td>
              <Table.Td>
                <Select
                  aria-label={`${t.memberRole}${common.colon}${name}`}
                  size="xs"
                  w={150}
                  data={ROLES.map((value) => ({ value, label: t.roles[value] }))}
                  value={role}
                  onChange={(value) => {
                    const chosen = ROLES.find((one) => one === value);
                    if (chosen !== undefined && chosen !== role) change.mutate({ user, role: chosen });
                  }}
                  allowDeselect={false}
                />
              </Table.Td>
              <Table.Td>
                <Time at={added} />
              </Table.Td>
              <Table.Td>
                <ConfirmButton
                  label={t.removeMember}
                  question={t.removeMemberQuestion(name)}
                  onConfirm={() => change.mutate({ user, remove: true })}
                />
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </ScrollTable>
  );
}
