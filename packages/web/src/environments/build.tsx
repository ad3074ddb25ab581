// One build with its log, live while it runs.
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { useReadOnView } from "../api/use-inbox.ts";
import { Notice } from "../components/feedback.tsx";
import { Output } from "../components/output.tsx";
import { Loaded, Page } from "../components/page.tsx";
import { Moment } from "../components/time.tsx";
import { type FollowedText, followText } from "../stream/follow-text.ts";
import { BuildActions } from "./build-actions.tsx";
import { BuildBadge } from "./build-status.tsx";
import { buildQuery, pathOf } from "./queries.ts";

export function BuildPage() {
  const { id, build: buildId } = useParams({ from: "/environments/$id/builds/$build" });
  const query = useQuery(buildQuery(id, buildId));
  const log = useLog(id, buildId);
  useReadOnView(buildId);
  return (
    <Page title="Build" {...(query.data && { actions: <BuildActions build={query.data} /> })}>
      <p className="back-link">
        <Link to="/environments/$id" params={{ id }}>
          Back to the environment
        </Link>
      </p>
      <Loaded query={query}>
        {(build) => (
          <p className="row-facts is-wrapping build-facts">
            <BuildBadge status={build.status} />
            {build.draft && (
              <span className="tag">{build.discardedAt === undefined ? "Draft" : "Discarded draft"}</span>
            )}
            <code>{build.id}</code>
            <Moment at={build.createdAt} />
            {build.failure && <span className="tone-bad">{build.failure.code ?? build.failure.type}</span>}
            {build.commits?.map(({ repoUrl, commit }) => (
              <span key={repoUrl} className="fact">
                {repoUrl} at <code>{commit.slice(0, 12)}</code>
              </span>
            ))}
          </p>
        )}
      </Loaded>
      {log.connection === "reconnecting" && (
        <Notice tone="busy">Reconnecting. Nothing is lost: the log goes on where it stopped.</Notice>
      )}
      {log.text !== "" && <Output text={log.text} />}
      {log.text === "" && (log.connection === "connecting" || log.connection === "live") && (
        <p className="soft">The log is empty so far.</p>
      )}
      {log.text === "" && log.connection === "ended" && <p className="soft">The log is empty.</p>}
    </Page>
  );
}

function useLog(id: string, buildId: string): FollowedText {
  const [log, setLog] = useState<FollowedText>({ text: "", connection: "connecting" });
  useEffect(() => {
    const controller = new AbortController();
    const url = `${pathOf(id)}/builds/${encodeURIComponent(buildId)}/logs`;
    void followText({ url, onChange: setLog, read: readLogEvent }, controller.signal);
    return () => controller.abort();
  }, [id, buildId]);
  return log;
}

const readLogEvent = (event: string, data: string): string | null => {
  if (event === "done") return null;
  return event === "log" ? (JSON.parse(data) as { text: string }).text : "";
};
