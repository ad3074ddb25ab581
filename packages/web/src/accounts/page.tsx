// The visitor's accounts on source hosts.
import type { SourceAccount, SourceAccountList } from "@agentcli/protocol/api";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { ConfirmButton } from "../components/confirm.tsx";
import { Empty, Failure } from "../components/feedback.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";

const accountsQuery = queryOptions({
  queryKey: ["accounts"],
  queryFn: ({ signal }) => request<SourceAccountList>("/v1/me/accounts", { signal }),
});

export function AccountsPage() {
  const query = useQuery(accountsQuery);
  const queries = useQueryClient();
  const disconnect = useAction(async (host: string) => {
    await request(`/v1/me/accounts/${encodeURIComponent(host)}`, { method: "DELETE" });
    await queries.invalidateQueries({ queryKey: accountsQuery.queryKey });
  });
  return (
    <Page
      title="Accounts"
      actions={query.data?.connectable.map(({ host, path }) => (
        // Not a page of the app: the server sends the browser to the login of the host.
        <a key={host} className="button button-primary" href={path}>
          Connect {host}
        </a>
      ))}
    >
      <p className="page-lead">
        On hosts where your account is connected, agents that work for you reach only repositories that you can push to
        yourself, and ask you for reviews.
      </p>
      {disconnect.error !== null && <Failure error={disconnect.error} />}
      <Loaded query={query}>
        {({ items, connectable }) =>
          items.length === 0 ? (
            <Empty icon="link" title="No accounts connected">
              {connectable.length === 0 && <p>No source host is configured where accounts can be connected.</p>}
            </Empty>
          ) : (
            <AccountTable accounts={items} onDisconnect={(host) => void disconnect.run(host)} />
          )
        }
      </Loaded>
    </Page>
  );
}

const AccountTable = ({ accounts, onDisconnect }: { accounts: SourceAccount[]; onDisconnect(host: string): void }) => (
  <table className="table">
    <TableHead columns={["Host", "Account", "Connected"]} hasActions />
    <tbody>
      {accounts.map(({ host, login, connectedAt }) => (
        <tr key={host} data-account-host={host}>
          <td data-label="Host">{host}</td>
          <td data-label="Account">{login}</td>
          <td data-label="Connected">
            <Moment at={connectedAt} />
          </td>
          <td className="table-actions">
            <ConfirmButton
              look="quiet"
              label="Disconnect"
              title={`Disconnect ${login} on ${host}?`}
              onConfirm={() => onDisconnect(host)}
            >
              <p>Your agents can no longer reach repositories there as you. You can connect it again.</p>
            </ConfirmButton>
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
