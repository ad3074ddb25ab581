// Secrets of the user, the team and environments: their names, never their values.
import type { OwnedSecret } from "@agentcli/protocol/api";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "../api/request.ts";
import { session } from "../api/session.ts";
import { useAction } from "../api/use-action.ts";
import { ConfirmButton } from "../components/confirm.tsx";
import { Empty, Failure } from "../components/feedback.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";
import { SecretForm } from "./form.tsx";

const secretsQuery = queryOptions({
  queryKey: ["secrets"],
  queryFn: ({ signal }) => request<{ items: OwnedSecret[] }>("/v1/secrets?limit=100", { signal }),
});

export function SecretsPage() {
  const query = useQuery(secretsQuery);
  const queries = useQueryClient();
  const reload = () => queries.invalidateQueries({ queryKey: secretsQuery.queryKey });
  const remove = useAction(async (secret: OwnedSecret) => {
    await request(`${pathOf(secret)}?${new URLSearchParams({ id: secret.id })}`, { method: "DELETE" });
    await reload();
  });
  return (
    <Page title="Secrets">
      <p className="page-lead">
        Agents get them as environment variables. A value is never shown again, not even to you, and is taken out of
        transcripts and results.
      </p>
      <SecretForm onSaved={reload} />
      {remove.error !== null && <Failure error={remove.error} />}
      <Loaded query={query}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty icon="lock" title="No secrets yet" />
          ) : (
            <SecretTable secrets={items} onRemove={(secret) => void remove.run(secret)} />
          )
        }
      </Loaded>
    </Page>
  );
}

/** Those of environments are of the team or of the user who sees them. */
const mayManage = ({ owner }: OwnedSecret): boolean => owner.type === "user" || session.isAdmin;

const pathOf = ({ name, owner }: OwnedSecret): string => {
  const base = {
    user: "/v1/me/secrets",
    team: "/v1/team/secrets",
    environment: `/v1/environments/${encodeURIComponent(owner.environmentId ?? "")}/secrets`,
  }[owner.type];
  return `${base}/${encodeURIComponent(name)}`;
};

const ownerWords = { user: "You", team: "Team", environment: "Environment" } as const;
const typeWords = {
  runtime_secret: "Secret",
  environment_variable: "Variable",
  build_secret: "For builds",
} as const;

interface SecretTableProps {
  secrets: OwnedSecret[];
  onRemove(secret: OwnedSecret): void;
}

const SecretTable = ({ secrets, onRemove }: SecretTableProps) => (
  <table className="table">
    <TableHead columns={["Name", "Of", "Type", "Repositories", "Hosts", "Set"]} hasActions />
    <tbody>
      {secrets.map((secret) => (
        <tr key={secret.id} data-secret={secret.name}>
          <td data-label="Name">
            <code>{secret.name}</code>
          </td>
          <td data-label="Of">{ownerWords[secret.owner.type]}</td>
          <td data-label="Type">{typeWords[secret.type]}</td>
          <td data-label="Repositories">{secret.repos.length === 0 ? "All" : secret.repos.join(", ")}</td>
          <td data-label="Hosts">{secret.hosts?.join(", ") ?? "Agents get the value"}</td>
          <td data-label="Set">
            <Moment at={secret.createdAt} />
          </td>
          <td className="table-actions">
            {mayManage(secret) && (
              <ConfirmButton
                look="quiet"
                label="Remove"
                title={`Remove ${secret.name}?`}
                onConfirm={() => onRemove(secret)}
              >
                <p>New agents start without it. Agents that have started keep it.</p>
              </ConfirmButton>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
