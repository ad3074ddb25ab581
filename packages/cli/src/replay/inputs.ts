// What a run was started from, recorded and now: the first difference between them.
import { relative } from "node:path";
import { apply, emptyThread, type StoredRecord, textOf, touchedPaths } from "@agentcli/engine";
import { callbacksFor, type RunOptions, threadCreated } from "@agentcli/host";
import { type Cassette, firstDifference } from "@agentcli/host/cassette";
import { openMemoryStore } from "@agentcli/host/sessions";
import { isMcpTool } from "@agentcli/mcp/tool-names";
import type { RecordOf } from "@agentcli/protocol";
import { openRun, type ProgramRun } from "../exec/run.ts";
import type { Program } from "../program.ts";

type Difference = NonNullable<ReturnType<typeof firstDifference>>;
type Created = RecordOf<"thread.created">;

/** Null if a run started now with these options would ask the model the same, as far as its files decide that. */
export async function changedInput(
  { header, batches }: Pick<Cassette, "header" | "batches">,
  created: Created,
  { options, program }: { options: RunOptions; program: Program },
): Promise<Difference | null> {
  const run = await openRun(options, program, {
    store: openMemoryStore(),
    recorded: null,
    callbacks: callbacksFor(program.reporter),
    tape: { store: (store) => store, openModel: async () => unasked, today: header.today, servers: "none" },
  });
  try {
    const { settings, traits } = run;
    const { threadId, program: recordedBy } = created;
    const now = threadCreated({ threadId, program: recordedBy, settings, assembly: run, traits });
    const records = batches.filter(({ thread }) => thread === threadId).flatMap((batch) => batch.records);
    return (
      firstDifference(inputOf(created), JSON.parse(JSON.stringify(inputOf(now)))) ??
      (await changedLater(records, created, run))
    );
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

/** Instructions that were read when a call touched a file: those recorded there, and those of the same files now. */
async function changedLater(records: StoredRecord[], created: Created, run: ProgramRun): Promise<Difference | null> {
  const state = emptyThread(created.threadId);
  for (const stored of records) {
    const { record } = stored;
    const isRead = record.type === "input.added" && record.origin === "repository";
    const touched = isRead || record.type === "model.replied" ? touchedPaths(state.settledCalls) : [];
    if (touched.length > 0) {
      const sent = state.instructions.flatMap(({ sources }) => sources);
      const { texts } = await run.dependencies.repository.textsFor(touched, sent);
      const now = texts.map(({ source, text }) => [relative(run.settings.cwd, source), text]);
      const before = isRead ? recordedTexts(record, created.settings.cwd) : [];
      const difference = firstDifference(Object.fromEntries(before), Object.fromEntries(now));
      if (difference) return { ...difference, field: `instructions for touched files, ${difference.field}` };
    }
    apply(state, stored);
  }
  return null;
}

const recordedTexts = ({ sources = [], input }: RecordOf<"input.added">, cwd: string): [string, string][] =>
  sources.map((source, index) => [relative(cwd, source), textOf(input.slice(index, index + 1))]);

const unasked = {
  async reply(): Promise<never> {
    throw new Error("a comparison asks no model");
  },
};
