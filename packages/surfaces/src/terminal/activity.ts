// What the agent is doing now: a fold over records and progress, for the live region of a terminal.
import type { Progress, Scrub, StoredRecord } from "@agentcli/engine";
import type { RecordOf, ThreadRecord, Usage } from "@agentcli/protocol";
import { type StreamedText, streamedText } from "../streamed.ts";

export interface Activity {
  record(stored: StoredRecord): void;
  /** Of a sub-agent: what it uses counts here. */
  agentRecord(stored: StoredRecord): void;
  progress(progress: Progress): void;
  /** Null when no turn is under way. */
  current(): CurrentActivity | null;
}

export interface CurrentActivity {
  /** One phrase: the command, the hook's own message, or what is waited for. */
  doing: string;
  tokens: number;
  /** The last lines of output of the command that is running. */
  output: string[];
}

/** A session that a command left running is not waited for. */
interface Call {
  label: string;
  output: StreamedText;
  lines: string[];
}

interface State {
  isRunning: boolean;
  tokens: number;
  calls: Map<string, Call>;
  /** The message of a hook that is running, or what the model is doing. */
  hook: string | null;
  model: string;
}

const maxLines = 5;

export function trackActivity(scrub: Scrub): Activity {
  const state: State = { isRunning: false, tokens: 0, calls: new Map(), hook: null, model: thinking };
  return {
    record: ({ record }) => applyRecord(state, record, scrub),
    agentRecord({ record }) {
      if (record.type === "model.replied" || record.type === "context.compacted")
        state.tokens += newTokens(record.usage);
    },
    progress: (progress) => applyProgress(state, progress),
    current: () => (state.isRunning ? describe(state) : null),
  };
}

const thinking = "thinking";

function describe({ calls, hook, model, tokens }: State): CurrentActivity {
  const running = [...calls.values()];
  const last = running.at(-1);
  const more = running.length > 1 ? ` (and ${running.length - 1} more)` : "";
  return { doing: hook ?? (last ? `${last.label}${more}` : model), tokens, output: last?.lines.map(lastWritten) ?? [] };
}

/** A progress bar writes over its line: what counts is what stands there last. */
function lastWritten(line: string): string {
  const written = line.replace(/\r+$/, "");
  return written.slice(written.lastIndexOf("\r") + 1);
}

function applyRecord(state: State, record: ThreadRecord, scrub: Scrub): void {
  switch (record.type) {
    case "turn.begun":
      Object.assign(state, { isRunning: true, tokens: 0, model: thinking });
      return;
    case "tool.begun":
      state.hook = null;
      state.calls.set(record.callId, { label: labelOf(record), output: streamedText(scrub), lines: [] });
      return;
    case "tool.settled":
      state.calls.delete(record.callId);
      state.model = thinking;
      return;
    case "model.replied":
    case "context.compacted":
      state.tokens += newTokens(record.usage);
      return;
    case "noted":
      if (record.kind === "hook") state.hook = null;
      return;
    case "turn.ended":
      Object.assign(state, { isRunning: false, hook: null });
      state.calls.clear();
      return;
    case "thread.created":
    case "input.added":
      return;
  }
}

/** As the last line of a run counts them. */
const newTokens = ({ inputTokens, cachedInputTokens, outputTokens }: Usage): number =>
  inputTokens - cachedInputTokens + outputTokens;

function applyProgress(state: State, progress: Progress): void {
  switch (progress.type) {
    case "output":
      addOutput(state.calls.get(progress.callId), progress.text);
      return;
    case "hook":
      state.hook = progress.statusMessage;
      return;
    case "text":
      state.model = "answering";
      return;
    case "calling":
      state.model = `preparing ${progress.name}`;
      return;
    case "retrying":
      state.model = `waiting to try again (${progress.attempt}/${progress.of})`;
      return;
    case "reasoning":
      state.model = thinking;
      return;
    case "settled":
      return;
  }
}

/** Only the last lines are kept; the last of them may go on with the next piece. */
function addOutput(call: Call | undefined, text: string): void {
  if (!call) return;
  const [first = "", ...rest] = call.output.add(text).replace(/\r\n/g, "\n").split("\n");
  const open = call.lines.pop() ?? "";
  call.lines.push(`${open}${first}`, ...rest);
  call.lines = call.lines.slice(-(maxLines + 1)).map((line) => line.slice(-maxCharacters));
}

/** More than any terminal is wide, and enough to find the last state of a progress bar. */
const maxCharacters = 4096;

function labelOf({ name, args, mcp }: RecordOf<"tool.begun">): string {
  const { cmd } = (args ?? {}) as { cmd?: unknown };
  if (mcp) return `calling ${mcp.server}/${mcp.tool}`;
  return name === "exec_command" ? `running ${String(cmd ?? "")}` : `running ${name}`;
}
