// `agentcli import`: sessions of other tools become sessions that can be resumed.
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";

const codexId = "019a5b3c-1d2e-7f00-8a9b-0123456789ab";
const at = "2026-11-01T08:00:00.000Z";

const message = (role: string, text: string) => ({
  type: "message",
  role,
  content: [{ type: role === "assistant" ? "output_text" : "input_text", text }],
});

const codexLines = (cwd: string) =>
  [
    { type: "session_meta", payload: { id: codexId, timestamp: at, cwd, source: "cli" } },
    { type: "turn_context", payload: { cwd, sandbox_policy: { type: "danger-full-access" }, model: "other" } },
    ...[
      message("developer", "<permissions instructions>everything</permissions instructions>"),
      message("user", "<environment_context>theirs</environment_context>"),
      message("user", "count the files"),
      { type: "reasoning", summary: [], encrypted_content: "AAAA" },
      { type: "function_call", name: "exec_command", arguments: '{"cmd":"ls | wc -l"}', call_id: "call_1" },
      { type: "function_call_output", call_id: "call_1", output: "42\n" },
      message("assistant", "There are 42 files."),
    ].map((payload) => ({ type: "response_item", payload })),
  ].map((line) => JSON.stringify({ timestamp: at, ...line }));

const claudeLines = (cwd: string) => {
  const line = (uuid: string, parentUuid: string | null, type: string, content: unknown, more = {}) =>
    JSON.stringify({ uuid, parentUuid, type, sessionId: "5f2b", cwd, timestamp: at, message: { content }, ...more });
  return [
    JSON.stringify({ type: "summary", summary: "Rename" }),
    line("1", null, "user", "rename total to sum"),
    line("2", "1", "assistant", [{ type: "text", text: "An answer that was taken back." }]),
    line("3", "1", "assistant", [{ type: "tool_use", id: "t1", name: "Edit", input: { file_path: "a.ts" } }]),
    line("4", "3", "user", [{ type: "tool_result", tool_use_id: "t1", content: [{ type: "text", text: "edited" }] }]),
    line("side", null, "user", "look elsewhere", { isSidechain: true }),
    line("5", "4", "user", "<command-name>/cost</command-name>"),
    line("6", "5", "assistant", [{ type: "text", text: "Renamed." }]),
    '{"uuid": "7", "half a li',
  ];
};

async function openHome() {
  const { run, repository, requests } = await openHarness({ replies: [{ messages: ["Going on."] }] });
  const { path: userHome, remove } = await temporaryDirectory();
  onTestFinished(remove);
  const write = (path: string, lines: string[]) => {
    mkdirSync(dirname(join(userHome, path)), { recursive: true });
    writeFileSync(join(userHome, path), `${lines.join("\n")}\n`);
    return join(userHome, path);
  };
  const importWith = (...args: string[]) => run(["import", ...args], { env: { HOME: userHome, CODEX_HOME: "" } });
  return { run, repository, requests, write, importWith };
}

const codexPath = `.codex/sessions/2026/11/01/rollout-2026-11-01T08-00-00-${codexId}.jsonl`;

test("a session of Codex goes on with its messages and calls, under the policy of this program", async () => {
  const { run, repository, requests, write, importWith } = await openHome();
  write(codexPath, codexLines(repository));
  expect((await importWith("--dry-run")).stdout).toContain(`session ${codexId}: count the files`);
  expect((await run(["sessions", "list"])).stdout).not.toContain("count the files");
  expect((await importWith()).stdout).toContain(`session ${codexId}: count the files`);
  expect((await run(["sessions", "list"])).stdout).toContain("count the files");
  const resumed = await run(["exec", "resume", codexId, "and the folders?"]);
  expect([resumed.code, resumed.stdout]).toEqual([0, "Going on.\n"]);
  const request = requests().at(-1);
  const body = JSON.stringify(request?.body);
  for (const text of ["count the files", "ls | wc -l", "There are 42 files.", "and the folders?"])
    expect(body).toContain(text);
  for (const text of ["theirs", "AAAA", "everything", "danger-full-access"]) expect(body).not.toContain(text);
  expect(toolOutputs(request)).toEqual(["42\n"]);
  expect((await importWith()).stdout).toContain("Codex: nothing new");
});

test("a session of Claude Code is its last branch, without sub-agents and commands of the program", async () => {
  const { run, repository, requests, write, importWith } = await openHome();
  for (const project of ["-work", "-copy"]) write(`.claude/projects/${project}/5f2b.jsonl`, claudeLines(repository));
  const { stdout } = await importWith();
  expect(stdout).toMatch(/5f2b\.jsonl: it is a copy of .*5f2b\.jsonl/);
  const [, id = ""] = /session (\S+): rename total to sum/.exec(stdout) ?? [];
  expect((await run(["exec", "resume", id, "go on"])).code).toBe(0);
  const body = JSON.stringify(requests().at(-1)?.body);
  for (const text of ["rename total", "a.ts", "edited", "Renamed."]) expect(body).toContain(text);
  for (const text of ["taken back", "look elsewhere", "/cost"]) expect(body).not.toContain(text);
  expect((await importWith()).stdout).toContain("Claude Code: nothing new");
});

test("sessions whose directory is gone are named, and old ones are left alone", async () => {
  const { repository, write, importWith } = await openHome();
  const path = write(codexPath, codexLines(join(repository, "gone")));
  expect((await importWith()).stdout).toMatch(/rollout-.*: its directory .*gone is not there any more/);
  rmSync(path);
  utimesSync(write(codexPath, codexLines(repository)), 1_600_000_000, 1_600_000_000);
  expect((await importWith()).stdout).toContain("Codex: nothing new");
  expect((await importWith("--since", "2000w")).stdout).toContain("count the files");
});
