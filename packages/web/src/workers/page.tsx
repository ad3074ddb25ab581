// Connected workers and pools: machines that the team brings.
import type { FleetOverview } from "@agentcli/protocol/api";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { request } from "../api/request.ts";
import { Empty } from "../components/feedback.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";
import { repositoryName } from "../text/format.ts";

const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: ({ signal }) => request<FleetOverview>("/v1/overview/workers", { signal }),
  refetchInterval: 15_000,
});

export const WorkersPage = () => (
  <Page title="Workers">
    <p className="page-lead">
      Machines of your own on which agents work, alone or in pools. <a href="/docs/workers">How to connect one</a>
    </p>
    <Loaded query={useQuery(workersQuery)}>
      {({ workers, pools }) => (
        <>
          <section className="section">
            <h2>Connected workers</h2>
            {workers.length === 0 ? (
              <Empty icon="terminal" title="No workers connected">
                <p>
                  Start one on a machine with <code>agentcli worker start</code>.
                </p>
              </Empty>
            ) : (
              <WorkerTable workers={workers} />
            )}
          </section>
          {pools.length > 0 && (
            <section className="section">
              <h2>Pools</h2>
              <PoolTable pools={pools} />
            </section>
          )}
        </>
      )}
    </Loaded>
  </Page>
);

const WorkerTable = ({ workers }: { workers: FleetOverview["workers"] }) => (
  <table className="table">
    <TableHead columns={["Worker", "Pool", "Repository", "State", "Connected", "Version"]} />
    <tbody>
      {workers.map(({ id, name, pool, repository, isInUse, isCaller, connectedAt, version }) => (
        <tr key={id} data-worker={id}>
          <td data-label="Worker">
            {name} {isCaller && <span className="soft">(yours)</span>}
          </td>
          <td data-label="Pool">{pool ?? "Personal"}</td>
          <td data-label="Repository">{repository === undefined ? "Any" : repositoryName(repository)}</td>
          <td data-label="State">{isInUse ? "In use" : "Idle"}</td>
          <td data-label="Connected">
            <Moment at={connectedAt} />
          </td>
          <td data-label="Version">{version}</td>
        </tr>
      ))}
    </tbody>
  </table>
);

const PoolTable = ({ pools }: { pools: FleetOverview["pools"] }) => (
  <table className="table">
    <TableHead columns={["Pool", "Repository", "Connected", "In use", "Last seen"]} />
    <tbody>
      {pools.map(({ name, repository, connected, inUse, lastSeenAt }) => (
        <tr key={`${name} ${repository ?? ""}`} data-pool={name}>
          <td data-label="Pool">{name}</td>
          <td data-label="Repository">{repository ?? "Any"}</td>
          <td data-label="Connected" className="number">
            {connected}
          </td>
          <td data-label="In use" className="number">
            {inUse}
          </td>
          <td data-label="Last seen">
            <Moment at={lastSeenAt} />
          </td>
        </tr>
      ))}
    </tbody>
  </table>
);
