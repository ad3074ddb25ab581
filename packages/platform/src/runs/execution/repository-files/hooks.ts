// The command hooks in the repositories of an agent. Others are skipped, each with the reason.
import type { FoundHooks } from "@agentcli/host";
import { repositoryHookFiles } from "@agentcli/project";
import type { HookDefinition } from "@agentcli/protocol";
import type { AgentPaths } from "../agent-paths.ts";
import { hookWithSandboxPaths } from "./relocate-hooks.ts";

/** Where the commands of the run are. */
export type HookLocation = "server" | "worker";

/** `roots` are the directories of the repositories, on the host. */
export async function readHooks(roots: string[], paths: AgentPaths, location: HookLocation): Promise<FoundHooks> {
  const found = roots.map((root) => ({ root, files: repositoryHookFiles(root) }));
  if (found.every(({ files }) => files.length === 0)) return { definitions: [], warnings: [] };
  // Loaded with the first hook: what reads the code of hooks is large.
  const { readHookFiles, selectHooks } = await import("@agentcli/project/hooks");
  const read = found.map(({ root, files }) =>
    readHookFiles(files, { directories: [root], repository: root, pinning: "script" }),
  );
  const definitions = read.flatMap((files) => files.definitions).map((hook) => hookWithSandboxPaths(hook, paths));
  return {
    ...selectHooks(definitions.map((definition) => ({ definition, reason: whyNot(definition, location) }))),
    warnings: read.flatMap(({ warnings }) => warnings).map(paths.toSandboxPath),
  };
}

/** When an agent claims and releases a worker; on the platform, a conversation has no start or end that a hook could run at. */
const workerEvents = new Set(["sessionStart", "sessionEnd"]);
const unsupportedEvents = new Set(["beforeMCPExecution", "afterMCPExecution", "SessionStart", "SessionEnd"]);

function whyNot({ type = "command", event }: HookDefinition, location: HookLocation): string | null {
  if (type !== "command") return `hooks of type ${type} do not run on the platform; use a command`;
  if (workerEvents.has(event)) return location === "worker" ? null : `${event} hooks run on workers alone`;
  return unsupportedEvents.has(event) ? `${event} hooks do not run on the platform` : null;
}
