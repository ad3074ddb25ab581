// Invitations that were not accepted yet.
import type { Invitation } from "@agentcli/protocol/api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { ConfirmButton } from "../components/confirm.tsx";
import { Failure } from "../components/feedback.tsx";
import { Loaded } from "../components/page.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";
import { invitationsKey, invitationsQuery } from "./queries.ts";
import { roleWords } from "./words.ts";

export function Invitations() {
  const query = useQuery(invitationsQuery);
  const queries = useQueryClient();
  const revoke = useAction(async (id: string) => {
    await request(`/v1/invitations/${encodeURIComponent(id)}`, { method: "DELETE" });
    await queries.invalidateQueries({ queryKey: invitationsKey });
  });
  return (
    <section className="section">
      <h2>Open invitations</h2>
      {revoke.error !== null && <Failure error={revoke.error} />}
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="soft">None.</p>
          ) : (
            <InvitationTable invitations={items} onRevoke={(id) => void revoke.run(id)} />
          )
        }
      </Loaded>
    </section>
  );
}

const InvitationTable = ({ invitations, onRevoke }: { invitations: Invitation[]; onRevoke(id: string): void }) => (
  <table className="table">
    <TableHead columns={["Address", "Role", "Valid until"]} hasActions />
    <tbody>
      {invitations.map(({ id, email, role, expiresAt }) => (
        <tr key={id} data-invitation={email}>
          <td data-label="Address">{email}</td>
          <td data-label="Role" className="table-short">
            {roleWords[role]}
          </td>
          <td data-label="Valid until">
            <Moment at={expiresAt} />
          </td>
          <td className="table-actions">
            <ConfirmButton
              look="quiet"
              label="Revoke"
              title={`Revoke the invitation of ${email}?`}
              onConfirm={() => onRevoke(id)}
            >
              <p>Its link stops working. Invite the address again for a new one.</p>
            </ConfirmButton>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
