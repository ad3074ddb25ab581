// The file with the events that woke an agent. It is written inside the sandbox, as the agent itself would write it: what
// the agent put at that path cannot lead the server elsewhere.
import { join } from "node:path";
import type { AgentPaths } from "./agent-paths.ts";
import type { RunAssembly, RunPlan } from "./compose/index.ts";

/** An existing one stays: the run is resumed. The prompt has the events as well, so that nothing depends on the file. */
export async function writeWakeEvents(
  { request: { inbox, mode }, scrub }: RunPlan,
  { assembly, paths }: { assembly: RunAssembly; paths: AgentPaths },
): Promise<void> {
  if (inbox === undefined || mode === "plan") return;
  const path = paths.toSandboxPath(join(paths.directory, ".home", "inbox", inbox.name));
  const edits = [{ kind: "add" as const, path, content: scrub(inbox.text) }];
  await assembly.dependencies.workspace.edit({ edits });
}
