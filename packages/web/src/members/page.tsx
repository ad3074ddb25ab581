// Members of the team: all of them see it, administrators invite and change.
import type { Member } from "@agentcli/protocol/api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { session } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { Failure } from "../components/feedback.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";
import { MemberActions } from "./actions.tsx";
import { Invitations } from "./invitations.tsx";
import { InviteForm } from "./invite-form.tsx";
import { type OneTimeLink, OneTimeLinkCard } from "./link.tsx";
import { membersQuery } from "./queries.ts";
import { roleWords } from "./words.ts";

export function MembersPage() {
  const query = useQuery(membersQuery);
  const queries = useQueryClient();
  const [link, setLink] = useState<OneTimeLink | null>(null);
  const change = useAction(async (act: () => Promise<void>) => {
    await act();
    await queries.invalidateQueries({ queryKey: membersQuery.queryKey });
  });
  return (
    <Page title="Members" actions={session.isAdmin && <Link to="/service-accounts">Service accounts</Link>}>
      {session.isAdmin && <InviteForm onInvited={setLink} />}
      {link !== null && <OneTimeLinkCard link={link} />}
      {change.error !== null && <Failure error={change.error} />}
      <Loaded query={query}>
        {({ items, hasLoginLinks }) => (
          <MemberTable
            members={items}
            actions={(member) => (
              <MemberActions
                member={member}
                hasLoginLinks={hasLoginLinks}
                isBusy={change.isPending}
                onLink={setLink}
                onAct={(act) => void change.run(act)}
              />
            )}
          />
        )}
      </Loaded>
      {session.isAdmin && <Invitations />}
    </Page>
  );
}

interface MemberTableProps {
  members: Member[];
  actions(member: Member): ReactNode;
}

const MemberTable = ({ members, actions }: MemberTableProps) => (
  <table className="table section">
    <TableHead columns={["Member", "Role", "Last seen", "Since"]} hasActions={session.isAdmin} />
    <tbody>
      {members.map((member) => (
        <tr key={member.id} data-member={member.email}>
          <td data-label="Member">
            {member.email} {member.id === session.userId && <span className="soft">(you)</span>}
          </td>
          <td data-label="Role" className="table-short">
            {roleWords[member.role]}
          </td>
          <td data-label="Last seen">
            {member.lastSeenAt === undefined ? "Not logged in" : <Moment at={member.lastSeenAt} />}
          </td>
          <td data-label="Since">
            <Moment at={member.createdAt} />
          </td>
          {session.isAdmin && <td className="table-actions">{actions(member)}</td>}
        </tr>
      ))}
    </tbody>
  </table>
);
