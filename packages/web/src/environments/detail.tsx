// One environment: its builds, which of them agents start from, and how it came to be what it is.
import type { Build, EnvironmentDetail, EnvironmentVersion } from "@agentcli/protocol/api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button } from "../components/controls.tsx";
import { Failure, Notice } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { TableHead } from "../components/table.tsx";
import { Moment } from "../components/time.tsx";
import { duration } from "../text/format.ts";
import { BuildBadge } from "./build-status.tsx";
import { environmentQuery, isRunning, mayActivate, mayManage, pathOf } from "./queries.ts";

export function EnvironmentPage() {
  const { id } = useParams({ from: "/environments/$id" });
  const query = useQuery(environmentQuery(id));
  const queries = useQueryClient();
  const act = useAction(async (path: string) => {
    await request(`${pathOf(id)}/${path}`, { method: "POST", body: {} });
    await queries.invalidateQueries({ queryKey: ["environments", id] });
  });
  const environment = query.data?.environment;
  const mayChange = environment !== undefined && mayManage(environment);
  return (
    <Page
      title={environment?.name ?? "Environment"}
      actions={
        <>
          {(query.data?.builds.length ?? 0) > 1 && (
            <Link className="button button-plain" to="/environments/$id/diff" params={{ id }}>
              <Icon name="list" /> Compare builds
            </Link>
          )}
          {mayChange && (
            <Button icon="play" isBusy={act.isPending} onClick={() => act.run("builds")}>
              Build now
            </Button>
          )}
        </>
      }
    >
      {act.error !== null && <Failure error={act.error} />}
      <Loaded query={query}>
        {({ environment, builds, active, history }) => (
          <>
            {active.type === "universal_image" && (
              <Notice tone="busy">No build has succeeded yet: agents start without one.</Notice>
            )}
            <Builds
              builds={builds}
              activeId={active.buildId}
              environmentId={id}
              {...(mayChange && { onAct: (path: string) => void act.run(path) })}
            />
            <Definition environment={environment} />
            <History versions={history} />
          </>
        )}
      </Loaded>
    </Page>
  );
}

interface BuildsProps {
  builds: Build[];
  activeId: string | undefined;
  environmentId: string;
  /** Absent for those who may only look. */
  onAct?: (path: string) => void;
}

const Builds = ({ builds, activeId, environmentId, onAct }: BuildsProps) => (
  <section className="section">
    <h2>Builds</h2>
    {builds.length === 0 && <p className="soft">There is no build yet.</p>}
    {builds.length > 0 && (
      <table className="table">
        <TableHead columns={["Build", "Status", "Why", "When"]} hasActions />
        <tbody>
          {builds.map((build) => (
            <tr key={build.id} data-build={build.id}>
              <td data-label="Build">
                <Link to="/environments/$id/builds/$build" params={{ id: environmentId, build: build.id }}>
                  <code>{build.id.slice(0, 21)}</code>
                </Link>{" "}
                {build.id === activeId && <span className="tag tag-good">Active</span>}
                {build.draft && (
                  <span className="tag">{build.discardedAt === undefined ? "Draft" : "Discarded draft"}</span>
                )}
              </td>
              <td data-label="Status">
                <BuildBadge status={build.status} />
              </td>
              <td data-label="Why">{triggerWords[build.trigger]}</td>
              <td data-label="When">
                <Moment at={build.createdAt} />
                {build.completedAt !== undefined && (
                  <span className="soft"> · {duration(msBetween(build.createdAt, build.completedAt))}</span>
                )}
              </td>
              <td className="table-actions">
                {onAct && isRunning(build) && (
                  <Button onClick={() => onAct(`builds/${build.id}/cancel`)}>Cancel</Button>
                )}
                {onAct && mayActivate(build) && build.id !== activeId && (
                  <Button onClick={() => onAct(`builds/${build.id}/activate`)}>Activate</Button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    )}
  </section>
);

const triggerWords: Record<Build["trigger"], string> = {
  RECURRING: "By schedule",
  CONFIG_CHANGE: "Changed",
  MANUAL: "By hand",
};

const msBetween = (from: string, to: string): number => new Date(to).getTime() - new Date(from).getTime();

const Definition = ({ environment: { environmentJson, repoFile } }: { environment: EnvironmentDetail }) => (
  <section className="section">
    <h2>Definition</h2>
    {repoFile && (
      <p className="soft">
        <code>{repoFile.path}</code> of {repoFile.url} wins over it.
      </p>
    )}
    {environmentJson !== undefined && (
      // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard needs a way in.
      <pre className="code" tabIndex={0}>
        {environmentJson}
      </pre>
    )}
  </section>
);

const History = ({ versions }: { versions: EnvironmentVersion[] }) => (
  <section className="section">
    <h2>History</h2>
    <ul className="rows">
      {versions.map(({ id, title, description, createdAt, current }) => (
        <li key={id} className="row">
          <div className="row-main">
            <span className="row-text">{title}</span>
            <span className="row-facts is-wrapping">{description}</span>
          </div>
          <div className="row-end">
            {current && <span className="tag tag-good">Current</span>}
            <Moment at={createdAt} />
          </div>
        </li>
      ))}
    </ul>
  </section>
);
