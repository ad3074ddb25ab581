// The cloud role of a run: which one its agent has, and that its credentials are redacted wherever the run shows them.
import type { SocketReply } from "@agentcli/workspace";
import { cloudRoleVariable } from "../../cloud-roles/index.ts";
import { recordToken } from "../../secrets/index.ts";
import type { RunContext } from "./drive-turn.ts";

/** Null: the agent has none. */
export function credentialsOfRun(
  { activeRun, plan, host }: Pick<RunContext, "activeRun" | "plan" | "host">,
  environmentId: string | null,
): (() => Promise<SocketReply>) | null {
  const roleArn = plan.variables[cloudRoleVariable];
  if (roleArn === undefined) return null;
  const { agent, key, run } = activeRun;
  return host.cloudRoles.forRun({
    ...{ agentId: agent.id, teamId: agent.teamId, runId: run.id, environmentId, roleArn },
    async recognize(secret) {
      // Also for the server that resumes the run, or searches its commits and artifacts.
      await recordToken(host.platform.db, { agent, key }, secret);
      plan.recognize(secret);
    },
  });
}
