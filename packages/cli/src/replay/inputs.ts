// What a run was started from, recorded and now: the first difference between them.
import { observersFor, type RunOptions, threadCreated } from "@agentcli/host";
import { type Cassette, firstDifference } from "@agentcli/host/cassette";
import { openMemoryStore } from "@agentcli/host/sessions";
import { isMcpTool } from "@agentcli/mcp/tool-names";
import type { RecordOf } from "@agentcli/protocol";
import { openRun } from "../exec/run.ts";
import type { Program } from "../program.ts";

type Difference = NonNullable<ReturnType<typeof firstDifference>>;
type Created = RecordOf<"thread.created">;

/** Null if a run started now with these options would ask the model the same. */
export async function changedInput(
  { header }: Pick<Cassette, "header">,
  created: Created,
  { options, program }: { options: RunOptions; program: Program },
): Promise<Difference | null> {
  const run = await openRun(options, program, {
    store: openMemoryStore(),
    recorded: null,
    observers: observersFor(program.reporter),
    tape: { store: (store) => store, openModel: async () => unasked, today: header.today, servers: "none" },
  });
  try {
    const { settings, traits } = run;
    const { threadId, program: recordedBy } = created;
    const now = threadCreated({ threadId, program: recordedBy, settings, assembly: run, traits });
    return firstDifference(inputOf(created), JSON.parse(JSON.stringify(inputOf(now))));
  } finally {
    await run.close();
  }
}

/** Tools of MCP servers are known only when the servers run; their answers are recorded. */
function inputOf({ frozen, settings }: Created): object {
  const { instructions, context, tools, hooks = [] } = frozen;
  const { model, provider, effort } = settings ?? {};
  const ownTools = tools.filter(({ name }) => !isMcpTool(name));
  const byName = Object.fromEntries(ownTools.map((tool) => [tool.name, tool]));
  return { model, provider, effort, instructions, context, tools: byName, hooks };
}

const unasked = {
  async reply(): Promise<never> {
    throw new Error("a comparison asks no model");
  },
};
