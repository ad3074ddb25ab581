// Arguments that a model did not write exactly as the schema says.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServer } from "@agentcli/workspace";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { drive } from "../src/index.ts";
import { coerceArguments } from "../src/tools/coerce.ts";
import { calls, openHarness, replies, textReply } from "./thread-harness.ts";

/** The text that the model receives for one call. */
async function answerTo(name: string, args: unknown): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), "arguments-"));
  writeFileSync(join(root, "a.txt"), "one\ntwo\nthree\n");
  const env = { PATH: process.env.PATH ?? "", HOME: root };
  const workspace = await openServer({ root, writable: "anywhere", env, orphans: "ended-by-watchdog" });
  onTestFinished(async () => {
    await workspace.close();
    rmSync(root, { recursive: true });
  });
  const script = [replies([calls(name, args)]), textReply("Done.")];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), workspace);
  await thread.begin("go");
  await drive(thread.log, thread.dependencies, new AbortController().signal);
  const message = thread.requests[1]?.messages.at(-1);
  const part = message?.role === "tool" ? message.parts[0] : undefined;
  return part?.type === "text" ? part.text : "";
}

const understood: [string, string, unknown, string][] = [
  ["a number as text", "read_file", { path: "a.txt", offset: "2", limit: " 1 " }, "2: two"],
  ["a null for an argument left out", "read_file", { path: "a.txt", offset: null, limit: 1 }, "1: one"],
  ["true as text", "exec_command", { cmd: "echo hi", login: "False" }, "hi"],
  ["a list as JSON text", "exec_command", { cmd: "echo hi", prefix_rule: '["echo"]' }, "hi"],
  ["a list as its only text", "exec_command", { cmd: "echo hi", prefix_rule: "echo" }, "hi"],
  ["objects in a list as text", "update_plan", { plan: '[{"step":"a","status":"pending"}]' }, "Plan updated"],
  ["arguments encoded twice", "read_file", JSON.stringify(JSON.stringify({ path: "a.txt", limit: 1 })), "1: one"],
];

test.each(understood)("%s is understood", async (_name, tool, args, expected) => {
  const answer = await answerTo(tool, args);
  expect(answer).toContain(expected);
  expect(answer).not.toContain("invalid arguments");
  expect(answer).not.toContain("[note:");
});

test("an argument that the tool does not have is ignored, and the answer says so", async () => {
  const answer = await answerTo("read_file", { path: "a.txt", limit: "1", timeout: 1000, mode: { a: 1 } });
  expect(answer).toContain("1: one");
  expect(answer).toContain("[note: read_file has no argument timeout: it was ignored. Its arguments: path, ");
  expect(answer).toContain("no argument mode");
  const command = await answerTo("exec_command", { cmd: "echo hi", explanation: "to greet" });
  expect(command).toContain("Process exited with code 0");
  expect(command).toMatch(/\nhi\n\[note: exec_command has no argument explanation: /);
});

test("a value of another kind is still refused, with the names that are unknown", async () => {
  expect(await answerTo("read_file", { path: 5 })).toContain("invalid arguments for read_file: path must be string");
  expect(await answerTo("read_file", { path: "a.txt", limit: "all" })).toContain("limit must be number");
  expect(await answerTo("exec_command", { command: "ls" })).toMatch(/'cmd'; unknown: command/);
});

test("an unknown tool is answered with the nearest names", async () => {
  expect(await answerTo("readFile", {})).toMatch(/^unsupported call: readFile\nNearest tools: read_file\b/);
  expect(await answerTo("grep_file", {})).toMatch(/^unsupported call: grep_file\nNearest tools: grep_files/);
  expect(await answerTo("Bash", {})).toContain("Nearest tools: exec_command");
  expect(await answerTo("str_replace_editor", {})).toContain("apply_patch");
  expect(await answerTo("teleport", {})).toMatch(/\nAvailable tools: exec_command, write_stdin, .*update_plan/);
});

test("no value makes the coercion fail, and one that fits stays as it is", () => {
  const item = { type: "object", properties: { n: { type: "number" }, flag: { type: "boolean" } } };
  const schema = {
    type: "object",
    properties: { ...item.properties, text: { type: "string" }, list: { type: "array", items: item } },
  };
  fc.assert(
    fc.property(
      fc.oneof(fc.anything(), fc.json(), fc.object({ key: fc.constantFrom("n", "list", "text", "x") })),
      (value) => {
        coerceArguments(value, schema);
      },
    ),
  );
  const fitting = fc.record(
    {
      n: fc.double({ noNaN: true }),
      text: fc.string(),
      flag: fc.boolean(),
      list: fc.array(fc.record({ n: fc.nat() })),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(fitting, (value) => {
      expect(coerceArguments(value, schema)).toEqual({ args: value, ignored: [] });
    }),
  );
});
