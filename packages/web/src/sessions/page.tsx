// The browsers in which the visitor is logged in; each but this one can be ended.
import type { BrowserSession, BrowserSessionList } from "@agentcli/protocol/api";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { ConfirmButton } from "../components/confirm.tsx";
import { Failure } from "../components/feedback.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";

const path = "/v1/me/sessions";

const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: ({ signal }) => request<BrowserSessionList>(path, { signal }),
});

export function SessionsPage() {
  const query = useQuery(sessionsQuery);
  const queries = useQueryClient();
  const end = useAction(async (ended: BrowserSession[]) => {
    try {
      await Promise.all(ended.map(({ id }) => request(`${path}/${encodeURIComponent(id)}`, { method: "DELETE" })));
    } finally {
      // Of several, some may have ended before one was refused.
      await queries.invalidateQueries({ queryKey: sessionsQuery.queryKey });
    }
  });
  const others = query.data?.items.filter(({ isCurrent }) => !isCurrent) ?? [];
  return (
    <Page title="Your sessions" actions={others.length > 1 && <EndOthers onEnd={() => void end.run(others)} />}>
      <p className="page-lead">These browsers are logged in as you. End those that you do not know.</p>
      {end.error !== null && <Failure error={end.error} />}
      <Loaded query={query}>
        {({ items }) => <SessionTable sessions={currentFirst(items)} onEnd={(one) => void end.run([one])} />}
      </Loaded>
    </Page>
  );
}

const currentFirst = (sessions: BrowserSession[]): BrowserSession[] =>
  sessions.toSorted((one, other) => Number(other.isCurrent) - Number(one.isCurrent));

const EndOthers = ({ onEnd }: { onEnd(): void }) => (
  <ConfirmButton label="End all others" title="End all other sessions?" onConfirm={onEnd}>
    <p>The other browsers have to log in again. Your keys stay valid.</p>
  </ConfirmButton>
);

const SessionTable = ({ sessions, onEnd }: { sessions: BrowserSession[]; onEnd(one: BrowserSession): void }) => (
  <table className="table">
    <TableHead columns={["Logged in", "With", "Last seen", "Ends"]} hasActions />
    <tbody>
      {sessions.map((one) => (
        <tr key={one.id} data-session={one.id}>
          <td data-label="Logged in">
            <Moment at={one.createdAt} />
          </td>
          <td data-label="With">{methods[one.method]}</td>
          <td data-label="Last seen">
            <Moment at={one.lastSeenAt} />
          </td>
          <td data-label="Ends">
            <Moment at={one.expiresAt} />
          </td>
          <td className="table-actions">
            {one.isCurrent ? (
              <span className="tag">This browser</span>
            ) : (
              <ConfirmButton look="quiet" label="End" title="End this session?" onConfirm={() => onEnd(one)}>
                <p>Its browser has to log in again. Your keys stay valid.</p>
              </ConfirmButton>
            )}
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);

const methods: Record<BrowserSession["method"], string> = {
  link: "A login link",
  oidc: "The provider",
  invitation: "An invitation",
};
