// What can be done with an automation: run it now, disable and enable it.
import type { Automation, Firing } from "@agentcli/protocol/api";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { request } from "../api/request.ts";
import { useAction } from "../api/use-action.ts";
import { Button } from "../components/controls.tsx";
import { Failure } from "../components/feedback.tsx";
import { mayManage } from "./queries.ts";

export function AutomationActions({ automation }: { automation: Automation }) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const act = useAction(async (action: "enable" | "disable" | "run") => {
    const answer = await request<Firing | Automation>(`/v1/automations/${automation.id}/${action}`, {
      method: "POST",
      ...(action === "run" && { idempotencyKey: crypto.randomUUID() }),
    });
    await queries.invalidateQueries({ queryKey: ["automations"] });
    if (action === "run" && "agentId" in answer && answer.agentId !== undefined)
      await navigate({ to: "/agents/$id", params: { id: answer.agentId } });
  });
  if (!mayManage(automation)) return null;
  return (
    <div className="page-actions">
      {automation.enabled && (
        <Button icon="play" isBusy={act.isPending} onClick={() => act.run("run")}>
          Run now
        </Button>
      )}
      <Button
        look={automation.enabled ? "quiet" : "primary"}
        isBusy={act.isPending}
        onClick={() => act.run(automation.enabled ? "disable" : "enable")}
      >
        {automation.enabled ? "Disable" : "Enable"}
      </Button>
      {act.error !== null && <Failure error={act.error} />}
    </div>
  );
}
