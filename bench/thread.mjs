// A session file with as many records as wanted, as the program itself writes it.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Returns the id of the thread. */
export function writeThread(home, cwd, count) {
  const id = `0198c0de-0000-7000-8000-${String(count).padStart(12, "0")}`;
  const directory = join(home, "sessions/2026/01/01");
  mkdirSync(directory, { recursive: true });
  const at = "2026-01-01T00:00:00.000Z";
  const lines = recordsOf(id, cwd, count).map(
    (record, index) => `${JSON.stringify({ v: 1, seq: index + 1, at, record })}\n`,
  );
  writeFileSync(join(directory, `rollout-2026-01-01T00-00-00-${id}.jsonl`), lines.join(""));
  return id;
}

const usage = {
  inputTokens: 10,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 2,
  reasoningOutputTokens: 0,
};

function recordsOf(id, cwd, count) {
  const settings = {
    model: "scripted",
    provider: "scripted",
    cwd,
    shell: "/bin/bash",
    sandbox: "read-only",
    approval: "never",
    compactAt: 100_000_000,
  };
  const records = [
    {
      type: "thread.created",
      threadId: id,
      frozen: { instructions: "Be brief.", tools: [], context: [] },
      settings,
      program: { name: "agentcli", version: "0.1.0" },
    },
    { type: "turn.begun", turnId: "t", input: [{ type: "text", text: "Begin." }], settings },
  ];
  for (let seq = 3; records.length + 4 <= count; seq += 3) records.push(...recordsOfCall(seq));
  records.push({ type: "model.replied", blocks: [{ type: "message", text: "Done." }], usage, model: "scripted" });
  records.push({ type: "turn.ended", turnId: "t", end: { status: "completed", message: "Done." } });
  return records;
}

/** `seq` is that of the reply. */
function recordsOfCall(seq) {
  const name = "exec_command";
  const call = { type: "call", wireId: `call_${seq}`, name, form: "function", input: '{"cmd":"echo hello"}' };
  const outcome = {
    status: "completed",
    parts: [{ type: "text", text: "Process exited with code 0\nOutput:\nhello\n" }],
    detail: { kind: "command", output: "hello\n", exitCode: 0, cursor: 1, durationMs: 2 },
  };
  const callId = `${seq}.0`;
  return [
    { type: "model.replied", blocks: [call], usage, model: "scripted" },
    { type: "tool.begun", callId, name, args: { cmd: "echo hello" }, incarnation: "i", onResume: "once" },
    { type: "tool.settled", callId, outcome },
  ];
}
