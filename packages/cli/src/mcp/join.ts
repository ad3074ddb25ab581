// Takes the tools of MCP servers into a run once they are there, and notes which are not.
import type { Tool } from "@agentcli/engine";
import type { ServerReport } from "@agentcli/mcp";
import { isMcpTool } from "@agentcli/mcp/tool-names";
import type { ThreadRecord, ToolSpec } from "@agentcli/protocol";
import { Problem } from "../problem.ts";
import type { Run } from "../run.ts";

/** The start barrier: nothing is asked before every server is ready, has failed or has used up its time. Late ones join with a later turn. */
export async function joinServers(run: Run): Promise<void> {
  if (!run.mcp) return;
  const { servers, required } = run.mcp;
  const reports = await Promise.race([servers.started(), stopOf(run.program.signal)]);
  // Told to stop: the run begins only to say so.
  if (!reports) return;
  const missing = reports.filter(({ name, status }) => status === "failed" && required.includes(name));
  if (missing.length > 0) throw requiredMissing(missing);
  // In place: sub-agents are given what the run has when they begin.
  run.tools = [...run.tools.filter(({ name }) => !isMcpTool(name)), ...servers.tools()];
  run.dependencies = { ...run.dependencies, tools: run.tools };
  if (run.mcp.joined) return;
  run.mcp.joined = true;
  run.dependencies.guard = servers.guard(run.dependencies.guard);
  run.notes.push(...reports.map(note));
}

const stopOf = (signal: AbortSignal): Promise<null> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(null);
    signal.addEventListener("abort", () => resolve(null), { once: true });
  });

/** What a turn says about tools: nothing where servers offer what they offered before. */
export function changedTools(frozen: ToolSpec[], { tools, traits }: Run): ToolSpec[] | undefined {
  const spec = (tool: Tool) => tool.spec({ freeform: traits.freeformTools });
  const now = [
    ...frozen.filter(({ name }) => !isMcpTool(name)),
    ...tools.filter(({ name }) => isMcpTool(name)).map(spec),
  ];
  return JSON.stringify(now) === JSON.stringify(frozen) ? undefined : now;
}

const note = ({ name, status, reason }: ServerReport): ThreadRecord => ({
  type: "noted",
  kind: "mcp",
  data: { name, status, reason },
});

const requiredMissing = (missing: ServerReport[]): Problem =>
  new Problem(
    "dependency",
    `required MCP servers failed to initialize: ${missing.map(({ name, reason }) => `${name}: ${reason}`).join("; ")}`,
  );
