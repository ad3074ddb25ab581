// Agents as v0 shows them: with the state of their latest run.
import type { V0Agent, V0Status } from "@agentcli/protocol/api";
import type { Selectable } from "kysely";
import type { DataKey, HandoffTable, RunStatus } from "../../foundation/index.ts";
import { branchName } from "../../repositories/index.ts";
import { agentNameAad, errorAad, resultAad } from "../../runs/index.ts";
import type { ListedAgent, RunRow } from "../views/views.ts";

export interface AgentViewSource {
  row: ListedAgent;
  key: DataKey;
  run: RunRow | undefined;
  handoff: Selectable<HandoffTable> | undefined;
  publicUrl: string;
}

export function viewAgent({ row, key, run, handoff, publicUrl }: AgentViewSource): V0Agent {
  const { settings } = row;
  const [repository] = settings.repos;
  const name = key.openText(row.name, agentNameAad(row.id));
  const branch = handoff?.branch ?? plannedBranch(row, name);
  const summary = run && summaryOf(run, key);
  return {
    id: row.id,
    name,
    status: run ? statusNames[run.status] : "CREATING",
    source: {
      ...(repository && { repository: repository.url }),
      ...(repository?.startingRef && { ref: repository.startingRef }),
      ...(repository?.prUrl && { prUrl: repository.prUrl }),
    },
    target: {
      ...(branch && { branchName: branch }),
      url: `${publicUrl}/agents?id=${row.id}`,
      ...(handoff?.pr_url && { prUrl: handoff.pr_url }),
      autoCreatePr: settings.autoCreatePR,
      openAsCursorGithubApp: settings.openAsApp,
      openAsPlatformGithubApp: settings.openAsApp,
      skipReviewerRequest: settings.skipReviewerRequest,
    },
    ...(summary && { summary }),
    createdAt: row.created_at.toISOString(),
  };
}

const statusNames: Record<RunStatus, V0Status> = {
  CREATING: "CREATING",
  RUNNING: "RUNNING",
  FINISHED: "FINISHED",
  ERROR: "ERROR",
  EXPIRED: "EXPIRED",
  CANCELLED: "STOPPED",
};

/** What the first push will go to. The head of a pull request is found out by the run. */
function plannedBranch({ id, settings }: ListedAgent, name: string): string | undefined {
  const [repository] = settings.repos;
  if (!repository) return undefined;
  if (!settings.workOnCurrentBranch) return settings.branchName ?? branchName(name, id);
  return repository.prUrl ? undefined : repository.startingRef;
}

function summaryOf({ id, result, error_message }: RunRow, key: DataKey): string | undefined {
  if (result) return key.openText(result, resultAad(id));
  return error_message ? key.openText(error_message, errorAad(id)) : undefined;
}
