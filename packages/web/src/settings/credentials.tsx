// Credentials of the team for git hosts, for administrators. Values are typed in and never shown.
import type { Credential } from "@agentcli/protocol/api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { ConfirmButton } from "../components/confirm.tsx";
import { Failure } from "../components/feedback.tsx";
import { Loaded } from "../components/page.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";
import { CredentialForm } from "./credential-form.tsx";
import { kindWords } from "./kind-words.ts";
import { credentialsQuery } from "./queries.ts";

export function Credentials() {
  const query = useQuery(credentialsQuery);
  const queries = useQueryClient();
  const remove = useAction(async ({ host, kind }: Credential) => {
    await request(`/v1/team/credentials?${new URLSearchParams({ host, kind })}`, { method: "DELETE" });
    await queries.invalidateQueries({ queryKey: credentialsQuery.queryKey });
  });
  return (
    <section className="section">
      <h2>Credentials for git hosts</h2>
      <p className="page-lead">
        Agents of the team use them for private repositories on these hosts. They are encrypted, and not shown again.
      </p>
      <CredentialForm />
      {remove.error !== null && <Failure error={remove.error} />}
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <p className="soft">None.</p>
          ) : (
            <CredentialTable credentials={items} onRemove={(credential) => void remove.run(credential)} />
          )
        }
      </Loaded>
    </section>
  );
}

interface CredentialTableProps {
  credentials: Credential[];
  onRemove(credential: Credential): void;
}

const CredentialTable = ({ credentials, onRemove }: CredentialTableProps) => (
  <table className="table">
    <TableHead columns={["Host", "Kind", "Set"]} hasActions />
    <tbody>
      {credentials.map((credential) => {
        const { host, kind, user, fingerprints = [], updatedAt } = credential;
        return (
          <tr key={`${host} ${kind}`} data-credential={host}>
            <td data-label="Host">{host}</td>
            <td data-label="Kind">
              {kindWords[kind]} {user}{" "}
              {fingerprints.map((one) => (
                <code key={one}>{one}</code>
              ))}
            </td>
            <td data-label="Set">
              <Moment at={updatedAt} />
            </td>
            <td className="table-actions">
              <ConfirmButton
                look="quiet"
                label="Remove"
                title={`Remove the credential for ${host}?`}
                onConfirm={() => onRemove(credential)}
              >
                <p>Agents can no longer reach private repositories there.</p>
              </ConfirmButton>
            </td>
          </tr>
        );
      })}
    </tbody>
  </table>
);
