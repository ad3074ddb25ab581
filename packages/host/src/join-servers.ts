// Adds the tools of MCP servers to a run once the servers have started, and notes those that have not.
import type { Tool } from "@agentcli/engine";
import type { ServerReport } from "@agentcli/mcp";
import { isMcpTool } from "@agentcli/mcp/tool-names";
import type { ThreadRecord, ToolSpec } from "@agentcli/protocol";
import type { Assembly } from "./assemble.ts";
import { HostError } from "./host-error.ts";

/**
 * The start barrier: the model is not asked before every server is ready, has failed or has used up its time to start.
 * A late server joins with a later turn: call it again before each turn.
 */
export async function joinServers(assembly: Assembly, signal: AbortSignal): Promise<void> {
  const { servers } = assembly;
  if (!servers) return;
  const reports = await Promise.race([servers.started(), abortOf(signal)]);
  // Stopped while waiting: the run starts only to report that.
  if (!reports) return;
  const missing = reports.filter(({ name, status }) => status === "failed" && servers.required.includes(name));
  if (missing.length > 0) throw requiredMissing(missing);
  // Changed in place: sub-agents get the current tools when they start.
  assembly.tools = assembly.offerTools(servers.tools());
  assembly.dependencies = { ...assembly.dependencies, tools: assembly.tools };
  if (servers.joined) return;
  servers.joined = true;
  assembly.dependencies.guard = servers.guard(assembly.dependencies.guard);
  assembly.notes.push(...reports.map(serverNote));
}

const abortOf = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });

/** The tools a follow-up turn records; undefined if they have not changed. */
export function changedServerTools(
  frozen: ToolSpec[],
  tools: Tool[],
  { freeformTools }: { freeformTools: boolean },
): ToolSpec[] | undefined {
  const now = [
    ...frozen.filter(({ name }) => !isMcpTool(name)),
    ...tools.filter(({ name }) => isMcpTool(name)).map((tool) => tool.spec({ freeform: freeformTools })),
  ];
  return JSON.stringify(now) === JSON.stringify(frozen) ? undefined : now;
}

const serverNote = ({ name, status, reason }: ServerReport): ThreadRecord => ({
  type: "noted",
  kind: "mcp",
  data: { name, status, reason },
});

const requiredMissing = (missing: ServerReport[]): HostError =>
  new HostError(
    "dependency",
    `required MCP servers failed to initialize: ${missing.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}`,
  );
