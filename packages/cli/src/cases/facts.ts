// What happened in the run of a case, taken from its records.
import { callsOf, type StoredRecord, textOf } from "@agentcli/engine";
import type { ContextMessage, Outcome, RecordOf, ThreadRecord } from "@agentcli/protocol";

/** What an expectation can compare, by its names. */
export type Row = Record<string, string>;

export interface CaseFacts {
  exit: number;
  /** The final message; null if the turn did not complete. */
  message: string | null;
  /** Why the turn, or the run, failed. */
  error: string | null;
  /** Everything that the model was given before its first reply. */
  instructions: string;
  hooks: Row[];
  rules: Row[];
  skills: { offered: Row[]; loaded: Row[] };
  agents: { offered: Row[]; started: Row[] };
  /** Of all threads. */
  calls: Row[];
  /** `usd` is null where a price is not known. */
  spent: { requests: number; tokens: number; usd: number | null; tools: number };
  /** Paths below the project that are not as before the run. */
  touched: string[];
  /** Null where there is none. */
  readFile(path: string): string | null;
}

/** Records by thread; the main one is first. */
export type Threads = Map<string, StoredRecord[]>;

export type RecordedFacts = Pick<
  CaseFacts,
  "message" | "error" | "instructions" | "hooks" | "skills" | "calls" | "spent"
> & {
  started: Row[];
};

export function factsOf(threads: Threads): RecordedFacts {
  const [main = []] = [...threads.values()].map((stored) => stored.map(({ record }) => record));
  const all = [...threads.values()].flat().map(({ record }) => record);
  const calls = [...threads.values()].flatMap(callRows);
  const offered = offeredSkills(main);
  return {
    ...endOf(main),
    instructions: instructionsOf(main),
    hooks: all.flatMap(hookRows),
    skills: { offered: offered.map(({ path: _, ...row }) => row), loaded: loadedSkills(all, calls, offered) },
    started: all.flatMap((record) =>
      record.type === "thread.created" && record.parentId ? [agentRow(record, all)] : [],
    ),
    calls,
    spent: spentIn(all),
  };
}

function endOf(main: ThreadRecord[]): Pick<CaseFacts, "message" | "error"> {
  const end = main.findLast((record) => record.type === "turn.ended")?.end;
  if (end?.status === "completed") return { message: end.message, error: null };
  return { message: null, error: end === undefined ? null : end.status === "failed" ? end.message : end.reason };
}

const textsOf = (messages: ContextMessage[]): string[] => messages.map(({ parts }) => textOf(parts));

/** With the instructions that were added when a file was touched. */
function instructionsOf(main: ThreadRecord[]): string {
  return main
    .flatMap((record) => {
      if (record.type === "thread.created") return [record.frozen.instructions, ...textsOf(record.frozen.context)];
      if (record.type === "turn.begun") return textsOf(record.context ?? []);
      return record.type === "input.added" && record.origin === "repository" ? [textOf(record.input)] : [];
    })
    .join("\n");
}

function hookRows(record: ThreadRecord): Row[] {
  if (record.type !== "noted" || record.kind !== "hook" || !("key" in record.data)) return [];
  const { event, key, status, reason, context = "" } = record.data;
  return [{ event, hook: key, status, reason, context }];
}

function offeredSkills(main: ThreadRecord[]): Row[] {
  const created = main.find((record) => record.type === "thread.created");
  const texts = textsOf(created?.frozen.context ?? []).filter((text) => text.includes("<skills_instructions>"));
  return texts
    .flatMap((text) => [...text.matchAll(/^- ([\w:-]+):(.*?) \(file: (.+)\)$/gm)])
    .map(([, skill = "", description = "", path = ""]) => ({ skill, description: description.trim(), path }));
}

/** Named in the prompt, or read by the model. */
function loadedSkills(all: ThreadRecord[], calls: Row[], offered: Row[]): Row[] {
  const named = all
    .flatMap((record) => (record.type === "turn.begun" ? textsOf(record.context ?? []) : []))
    .flatMap((text) => [...text.matchAll(/<skill>\n<name>(.*?)<\/name>\n([\s\S]*?)\n<\/skill>/g)])
    .map(([, skill = "", text = ""]) => ({ skill, text }));
  const read = offered.flatMap(({ skill = "", path = "" }) =>
    calls
      .filter(({ status, input = "" }) => status === "completed" && mentionsFile(input, path))
      .map(({ output = "" }) => ({ skill, text: output })),
  );
  return [...named, ...read];
}

/** By its whole path, or by its path below the project. */
const mentionsFile = (input: string, path: string): boolean =>
  input.includes(path) || input.includes(path.split("/").slice(-4).join("/"));

function agentRow(created: RecordOf<"thread.created">, all: ThreadRecord[]): Row {
  const { frozen, settings, role = "", threadId } = created;
  const begun = all.find((record) => record.type === "turn.begun" && all.indexOf(record) > all.indexOf(created));
  return {
    agent: role,
    sandbox: settings.sandbox,
    model: settings.model,
    instructions: frozen.instructions,
    tools: frozen.tools.map(({ name }) => name).join(", "),
    task: begun?.type === "turn.begun" ? textOf(begun.input) : "",
    thread: threadId,
  };
}

function callRows(stored: StoredRecord[]): Row[] {
  const created = stored.find(({ record }) => record.type === "thread.created")?.record;
  const agent = created?.type === "thread.created" ? (created.role ?? "") : "";
  const outcomes = new Map(
    stored.flatMap(({ record }) => (record.type === "tool.settled" ? [[record.callId, record.outcome] as const] : [])),
  );
  return stored.flatMap(({ seq, record }) =>
    record.type === "model.replied"
      ? callsOf(seq, record.blocks).map(({ callId, block }) => ({
          tool: block.name,
          input: block.input,
          agent,
          ...outcomeOf(outcomes.get(callId)),
        }))
      : [],
  );
}

const outcomeOf = (outcome: Outcome | undefined): Row => ({
  status: outcome?.status ?? "interrupted",
  reason: outcome?.reason ?? "",
  output: outcome ? textOf(outcome.parts) : "",
});

function spentIn(all: ThreadRecord[]): CaseFacts["spent"] {
  const spent: CaseFacts["spent"] = { requests: 0, tokens: 0, usd: 0, tools: 0 };
  for (const record of all) {
    if (record.type === "tool.begun") spent.tools += 1;
    if (record.type !== "model.replied" && record.type !== "context.compacted") continue;
    spent.requests += 1;
    spent.tokens += record.usage.inputTokens + record.usage.outputTokens;
    spent.usd = spent.usd === null || record.costUsd == null ? null : spent.usd + record.costUsd;
  }
  return spent;
}
