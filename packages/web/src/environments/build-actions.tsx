// What can be done with one build.
import type { Build } from "@agentcli/protocol/api";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { ConfirmButton } from "../components/confirm.tsx";
import { Button } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { Icon } from "../components/icon.tsx";
import { discardWarning, environmentQuery, isOpenDraft, isRunning, mayActivate, mayManage, pathOf } from "./queries.ts";

export function BuildActions({ build }: { build: Build }) {
  const { environmentId: id } = build;
  const { data } = useQuery(environmentQuery(id));
  const queries = useQueryClient();
  const act = useAction(async (path: string) => {
    await request(`${pathOf(id)}/builds/${encodeURIComponent(build.id)}/${path}`, { method: "POST", body: {} });
    await queries.invalidateQueries({ queryKey: ["environments", id] });
  });
  if (!data) return null;
  const { environment, active, builds } = data;
  const hasDisk = build.status === "SUCCEEDED" || build.status === "FAILED";
  const mayChange = mayManage(environment);
  return (
    <div className="page-actions build-actions">
      {mayChange && isRunning(build) && (
        <Button icon="stop" isBusy={act.isPending} onClick={() => act.run("cancel")}>
          Cancel
        </Button>
      )}
      {mayChange && mayActivate(build) && build.id !== active.buildId && (
        <Button look="primary" isBusy={act.isPending} onClick={() => act.run("activate")}>
          Activate
        </Button>
      )}
      {mayChange && isOpenDraft(build) && (
        <ConfirmButton
          label="Discard"
          title="Discard this draft?"
          isBusy={act.isPending}
          onConfirm={() => void act.run("discard")}
        >
          <p>{discardWarning}</p>
        </ConfirmButton>
      )}
      {hasDisk && (
        <Link
          className="button button-plain"
          to="/agents/new"
          search={{ environment: environment.name, build: build.id }}
        >
          <Icon name="plus" /> {build.status === "FAILED" ? "Start an agent to find out why" : "Start an agent from it"}
        </Link>
      )}
      {hasDisk && builds.length > 1 && (
        <Link className="button button-plain" to="/environments/$id/diff" params={{ id }} search={{ to: build.id }}>
          <Icon name="list" /> Compare
        </Link>
      )}
      {act.error !== null && <Failure error={act.error} />}
    </div>
  );
}
