// The changes of a run that only proposes: what it would have pushed, and the pull request it would have opened.
import type { Diffs } from "../../repositories/index.ts";
import type { AutomationHost } from "../host.ts";
import { recordProposal } from "./store.ts";

export interface ProposingRun {
  agentId: string;
  teamId: number;
  runId: string;
  autoCreatePR: boolean;
  /** Removes secrets. */
  scrub(text: string): string;
}

/** Longer patches are cut; all of them are at `GET /v1/agents/{id}/diff`. */
const maxPatchLength = 256 * 1024;

/** Safe to call again: each repository of a run has one proposal. */
export async function proposeChanges(
  { platform, diffs }: Pick<AutomationHost, "platform"> & { diffs: Diffs },
  run: ProposingRun,
  signal: AbortSignal,
): Promise<void> {
  const { agentId, teamId, runId, scrub } = run;
  for (const { repoUrl, branch, baseBranch, patch } of await diffs.read(agentId, signal)) {
    if (patch.length === 0) continue;
    const text = scrub(patch.toString("utf8"));
    const about = { repository: repoUrl, branch, base: baseBranch };
    const isCut = text.length > maxPatchLength;
    await recordProposal(platform, {
      ...{ agentId, teamId, callId: `${runId} push ${repoUrl}`, tool: "push" },
      arguments: { ...about, patch: text.slice(0, maxPatchLength), ...(isCut && { isCut }) },
    });
    if (!run.autoCreatePR) continue;
    await recordProposal(platform, {
      ...{ agentId, teamId, callId: `${runId} pull request ${repoUrl}`, tool: "create_pull_request" },
      arguments: { ...about, draft: true },
    });
  }
}
