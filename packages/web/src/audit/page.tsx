// Who changed what, and when. For administrators.
import type { AuditEntry, AuditPage as Entries } from "@agentcli/protocol/api";
import { infiniteQueryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { request } from "../api/request.ts";
import { Button } from "../components/controls.tsx";
import { Empty, Failure, Skeleton } from "../components/feedback.tsx";
import { TextWithHashes } from "../components/hash.tsx";
import { Icon } from "../components/icon.tsx";
import { Page } from "../components/page.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";

const auditQuery = (action: string) =>
  infiniteQueryOptions({
    queryKey: ["audit", action],
    queryFn: ({ pageParam, signal }) => {
      const query = new URLSearchParams({
        ...(action !== "" && { action }),
        ...(pageParam !== "" && { cursor: pageParam }),
      });
      return request<Entries>(`/v1/audit?${query}`, { signal });
    },
    initialPageParam: "",
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

export function AuditPage() {
  const { action = "" } = useSearch({ from: "/audit" });
  const navigate = useNavigate({ from: "/audit" });
  const query = useInfiniteQuery(auditQuery(action));
  const entries = query.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <Page title="Audit">
      <div className="filters">
        <label className="search">
          <Icon name="search" />
          <input
            type="search"
            className="input"
            aria-label="Action"
            placeholder="Action, such as run or api_key.created"
            data-search
            value={action}
            onChange={({ target }) =>
              void navigate({ search: target.value === "" ? {} : { action: target.value }, replace: true })
            }
          />
        </label>
      </div>
      {query.isPending && <Skeleton lines={6} />}
      {query.error && <Failure error={query.error} retry={() => query.refetch()} />}
      {query.isSuccess && entries.length === 0 && <Empty icon="list" title="No entry matches" />}
      {entries.length > 0 && <EntryTable entries={entries} />}
      {query.hasNextPage && (
        <Button isBusy={query.isFetchingNextPage} onClick={() => query.fetchNextPage()}>
          Older entries
        </Button>
      )}
    </Page>
  );
}

const EntryTable = ({ entries }: { entries: AuditEntry[] }) => (
  <table className="table">
    <TableHead columns={["When", "Who", "What", "Details"]} />
    <tbody>
      {entries.map((entry) => (
        <EntryRow key={entry.seq} entry={entry} />
      ))}
    </tbody>
  </table>
);

const EntryRow = ({ entry: { at, actorName, action, subject, data } }: { entry: AuditEntry }) => (
  <tr data-action={action}>
    <td data-label="When">
      <Moment at={at} />
    </td>
    <td data-label="Who" className="table-name audit-actor">
      {actorName}
    </td>
    <td data-label="What" className="audit-what">
      <code>{action}</code>
      <span className="audit-subject soft">{subject}</span>
    </td>
    <td data-label="Details" className="table-name">
      {Object.entries(data)
        .filter(([, value]) => value !== null)
        .map(([name, value]) => (
          <span key={name} className="audit-data">
            <span className="soft">{name}:</span>{" "}
            <TextWithHashes text={typeof value === "string" ? value : JSON.stringify(value)} />
          </span>
        ))}
    </td>
  </tr>
);
