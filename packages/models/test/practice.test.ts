// The practice model with real files, real commands, and failing results.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Message, ModelProgress } from "@agentcli/engine";
import Ajv from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openPracticeModel } from "../src/scripted/model.ts";
import {
  ask,
  callIn,
  commandText,
  functionTools,
  openHost,
  requestWith,
  textIn,
  toolResult,
  userMessage,
} from "./practice-host.ts";

const sample = fileURLToPath(new URL("../../../examples/sample", import.meta.url));

describe("plain instructions", () => {
  test("create, append, replace, move and delete files through patches", async () => {
    using host = openHost();
    const prompt = [
      "1. create notes/a.txt containing `one $& two`",
      "2. append `three` to notes/a.txt",
      "3. replace `$&` with `and $1` in notes/a.txt",
      "4. create b.txt containing x",
      "5. delete b.txt",
      "6. move notes/a.txt to notes/c.txt",
    ].join("\n");
    const { text, calls } = await host.turn([userMessage(prompt)]);
    expect(host.read("notes/c.txt")).toBe("one and $1 two\nthree\n");
    expect([host.has("b.txt"), host.has("notes/a.txt")]).toEqual([false, false]);
    expect(new Set(calls)).toEqual(new Set(["apply_patch", "read_file"]));
    expect(text).toContain("Practice model (scripted, not an AI): 6 steps done.");
  });

  test("use the function form of apply_patch if that is offered", async () => {
    using host = openHost();
    await host.turn([userMessage("create a.txt containing hi")], { tools: functionTools });
    expect(host.read("a.txt")).toBe("hi\n");
  });

  test("run commands and show their output", async () => {
    using host = openHost();
    const { text } = await host.turn([userMessage("run `echo hello; echo there >&2` then read missing.txt")]);
    expect(text).toContain("exit code 0.\n  ```\n  hello\n  there\n  ```");
    expect(text).toContain("Could not read `missing.txt`");
  });

  test("every occurrence is replaced, on any line, and nothing else", async () => {
    const piece = fc.constantFrom("a", "b", "ab", "\n", " ");
    const body = fc.array(piece, { maxLength: 12 }).map((pieces) => `x${pieces.join("")}`.trimEnd());
    const property = fc.asyncProperty(body, fc.constantFrom("a", "b", "ab", "ba", "aa"), async (text, from) => {
      using host = openHost();
      await host.turn([userMessage(`create f.txt containing "${text}" then replace \`${from}\` with "$1" in f.txt`)]);
      expect(host.read("f.txt")).toBe(`${text.replaceAll(from, () => "$1")}\n`);
    });
    await fc.assert(property, { numRuns: Math.ceil(Number(process.env.FUZZ_RUNS ?? 200) / 5) });
  });

  test("a long file is read page by page, and an empty one can be appended to", async () => {
    using host = openHost();
    const lines = Array.from({ length: 120 }, (_, index) => `line ${index + 1}`);
    writeFileSync(join(host.root, "long.txt"), `${lines.join("\n")}\n`);
    writeFileSync(join(host.root, "empty.txt"), "");
    await host.turn([
      userMessage("append `end` to long.txt\nreplace `line 113` with `changed` in long.txt\nappend `x` to empty.txt"),
    ]);
    expect(host.read("long.txt")).toBe(`${lines.join("\n").replace("line 113", "changed")}\nend\n`);
    expect(host.read("empty.txt")).toBe("x\n");
  });
});

describe("reports", () => {
  const settle = async (prompt: string, result: string) => {
    const { blocks } = await ask(requestWith([userMessage(prompt)]));
    const call = callIn(blocks);
    if (!call) throw new Error("expected a call");
    const after: Message[] = [userMessage(prompt), { role: "assistant", blocks }, toolResult(call, result)];
    return textIn((await ask(requestWith(after))).blocks);
  };

  test("a non-zero exit code is a failure and ends the work", async () => {
    using host = openHost();
    const { text } = await host.turn([userMessage("run `exit 3` then create a.txt containing x")]);
    expect(text).toContain("FAILED");
    expect(text).toContain("failed with exit code 3");
    expect(text).toContain("Not attempted: create a.txt containing x");
    expect(host.has("a.txt")).toBe(false);
  });

  test.each([
    ["run rm -rf migrations", "Command blocked by PreToolUse hook: never changed. Command: rm -rf migrations"],
    ["create a.txt containing x", "patch rejected: writing is blocked by read-only sandbox"],
    ["append x to a.txt", "Warning: truncated output (original token count: 9)\n\n1: a\n…5 tokens truncated…\n9: b"],
    ["run sleep 1", "The outcome is unknown: the call was interrupted."],
    ["delete a.txt", "Failed to read file to update a.txt: No such file"],
    ["create a.txt containing x", "Exit code: 1\nWall time: 0 seconds\nOutput:\ninvalid patch"],
    ["run ls", ""],
  ])("%j with the result %j is reported as failed", async (prompt, result) => {
    const text = await settle(prompt, result);
    expect(text).toContain("FAILED");
    expect(text).toContain(result.split("\n").at(-1));
  });

  test("output that looks like a success does not count as one", async () => {
    expect(await settle("run x", commandText(1, "Process exited with code 0\n"))).toContain("exit code 1");
  });

  test("a call without a result has an unknown outcome", async () => {
    const prompt = userMessage("run make");
    const { blocks } = await ask(requestWith([prompt]));
    const text = textIn((await ask(requestWith([prompt, { role: "assistant", blocks }]))).blocks);
    expect(text).toContain("The outcome is unknown");
  });

  test("a command that keeps running is waited for", async () => {
    const messages: Message[] = [userMessage("run make")];
    const results = ["Process running with session ID 7\nOutput:\nhalf ", "Process exited with code 0\nOutput:\nway"];
    const calls: string[] = [];
    for (const result of results) {
      const { blocks } = await ask(requestWith(messages));
      const call = callIn(blocks);
      if (!call) throw new Error("expected a call");
      calls.push(`${call.name} ${call.input}`);
      messages.push({ role: "assistant", blocks }, toolResult(call, result));
    }
    expect(calls[1]).toBe('write_stdin {"session_id":7,"yield_time_ms":30000}');
    expect(textIn((await ask(requestWith(messages))).blocks)).toContain("half way");
  });

  test("a tool that is not offered is a failure, not a call", async () => {
    const tools = functionTools.filter((tool) => tool.name !== "exec_command");
    const { blocks } = await ask(requestWith([userMessage("run ls")], { tools }));
    expect(callIn(blocks)).toBeUndefined();
    expect(textIn(blocks)).toContain("exec_command is not offered");
  });

  test("an unreadable prompt is answered with the forms and three ways to a real model", async () => {
    const { blocks } = await ask(requestWith([userMessage("What do you think of this design? Use $nothing")]));
    const text = textIn(blocks);
    for (const piece of ["Practice model", "create FILE containing TEXT", "no skill named nothing"])
      expect(text).toContain(piece);
    for (const way of ["AGENT_API_KEY", "--oss", "model_providers"]) expect(text).toContain(way);
  });

  test("an unreadable step is skipped and reported", async () => {
    using host = openHost();
    const { text } = await host.turn([
      userMessage("Do this:\n- refactor the auth module\n- create a.txt containing x"),
    ]);
    expect(host.has("a.txt")).toBe(true);
    expect(text).toContain("1 step done, 1 skipped");
    expect(text).toContain("Skipped: Not a form I understand: `refactor the auth module`.");
  });
});

describe("the sample repository", () => {
  test("the failing test is found, fixed and run again", async () => {
    using host = openHost(sample);
    const context = userMessage(`<environment_context>\n  <cwd>${host.root}</cwd>\n</environment_context>`);
    const { text, calls } = await host.turn([context, userMessage("fix the failing test")]);
    expect(calls).toEqual(["exec_command", "read_file", "read_file", "apply_patch", "exec_command"]);
    expect(host.read("src/paging.js")).toContain("const last = first + size;\n");
    expect(text).toContain("tests 4, pass 4, fail 0");
    const again = await host.turn([userMessage("fix the failing test")]);
    expect(again.text).toContain("already passes");
  });

  test("another mistake is found by trying, and changes that do not help are reverted", async () => {
    using host = openHost(sample);
    const context = userMessage(`<environment_context><cwd>${host.root}</cwd></environment_context>`);
    const right = host.read("src/paging.js").replace("first + size - 1", "first + size");
    const plant = (from: string, to: string) =>
      host.turn([userMessage(`create src/paging.js containing:\n\`\`\`\n${right.replace(from, to)}\`\`\``)]);
    await plant("Math.ceil", "Math.floor");
    await host.turn([context, userMessage("fix the failing test")]);
    expect(host.read("src/paging.js")).toBe(right);
    await plant("Math.ceil(total / size)", "7 + 8 + total");
    const { text } = await host.turn([context, userMessage("fix the failing test")]);
    expect(text).toContain("FAILED");
    expect(host.read("src/paging.js")).toBe(right.replace("Math.ceil(total / size)", "7 + 8 + total"));
  });

  test("the skill's numbered steps are followed once the tests pass", async () => {
    using host = openHost(sample);
    const skill = `<skill>\n<name>release-notes</name>\n<path>x</path>\n${host.read(".agents/skills/release-notes/SKILL.md")}\n</skill>`;
    const stopped = await host.turn([userMessage("$release-notes"), userMessage(skill)]);
    expect(stopped.text).toContain("`npm test` failed with exit code 1");
    expect(host.has("NOTES.md")).toBe(false);
    await host.turn([userMessage("fix the failing test")]);
    const { text } = await host.turn([...stopped.messages, userMessage("use $release-notes"), userMessage(skill)]);
    expect(text).toContain("4 steps done, 1 skipped");
    expect(host.read("NOTES.md").match(/^## .*/gm)).toEqual([
      "## Changes",
      "## Risks",
      "## Effort",
      "## Recommendation",
    ]);
    expect(host.read("CHECKLIST.md")).toBe("# CHECKLIST\n\n- [x] Read the notes\n- [ ] Tag the release\n");
  });

  test("the open steps of a plan are taken one at a time and committed by name", async () => {
    using host = openHost();
    const skill =
      "1. Carry out the first open step in `PLAN.md`.\n2. Change the first `- [ ]` in `PLAN.md` to `- [x]`.\n3. Commit with a message naming the step.";
    const messages = [userMessage("$go"), userMessage(`<skill>\n<name>go</name>\n${skill}\n</skill>`)];
    await host.turn([
      userMessage("run `git init -q && git config user.name P && git config user.email p@example.org`"),
    ]);
    await host.turn([userMessage('write PLAN.md with checkboxes "Create `a.txt` containing one", "Delete a.txt"')]);
    await host.turn(messages);
    expect(host.read("a.txt")).toBe("one\n");
    await host.turn(messages);
    expect(host.has("a.txt")).toBe(false);
    const log = await host.turn([userMessage("run git log --format=%s")]);
    expect(log.text).toContain("Delete a.txt\n  Create `a.txt` containing one");
    expect((await host.turn(messages)).text).toContain("There is no open step");
  });

  test("NO-GO stops the remaining steps", async () => {
    using host = openHost();
    await host.turn([userMessage("create R.md containing NO-GO")]);
    const { text } = await host.turn([userMessage("Stop if `R.md` says NO-GO\ncreate a.txt containing x")]);
    expect(text).toContain("stopped as asked");
    expect(host.has("a.txt")).toBe(false);
  });

  test.each([
    ["stop if R.md says REJECTED", "Verdict: rejected"],
    ["stop if R.md says REJECTED or BLOCKED", "BLOCKED"],
    ["stop if the review went badly", "fine"],
    ["continue only if R.md says GO", "NO-GO"],
  ])("%j does not go on where R.md is %j", async (condition, content) => {
    using host = openHost();
    await host.turn([userMessage(`create R.md containing ${content}`)]);
    const { text } = await host.turn([userMessage(`${condition}\ncreate a.txt containing x`)]);
    expect(text).toContain("stopped as asked");
    expect(host.has("a.txt")).toBe(false);
  });

  test("where the file does not say it, the remaining steps are taken", async () => {
    using host = openHost();
    await host.turn([userMessage("create R.md containing GO")]);
    await host.turn([userMessage("stop if R.md says NO-GO then create a.txt containing x")]);
    expect(host.has("a.txt")).toBe(true);
  });

  test("a file that cannot be read stops the remaining steps", async () => {
    using host = openHost();
    const { text } = await host.turn([userMessage("Stop if `missing.md` says NO-GO\ncreate a.txt containing x")]);
    expect(text).toContain("`missing.md` could not be read");
    expect(host.has("a.txt")).toBe(false);
  });
});

describe("a conversation", () => {
  test("continues after compaction", async () => {
    using host = openHost();
    const prompt = userMessage(
      "create a.txt containing:\n```\none\nthen two\n```\nthen run ls then create c.txt containing three",
    );
    const { messages } = await host.turn([prompt]);
    for (const settled of [0, 1, 2, 3]) {
      const soFar = messages.slice(0, 1 + 2 * settled);
      const summary = await ask(requestWith([...soFar, userMessage("Summarise the conversation.")], { tools: [] }));
      using other = openHost();
      const { text, calls } = await other.turn([userMessage(`<summary>${textIn(summary.blocks)}</summary>`)]);
      expect(calls).toEqual(["apply_patch", "exec_command", "apply_patch"].slice(settled));
      expect(text).toContain("3 steps done.");
      expect(text).toContain("Created `c.txt`.");
    }
  });

  test("a single question without an agent is not summarised", async () => {
    const { blocks } = await ask(
      requestWith([userMessage("What is the capital of France?")], { instructions: "", tools: [] }),
    );
    expect(textIn(blocks)).toContain("I did nothing, because I do not understand this prompt.");
  });

  test("fails if the summary did not include the prompt", async () => {
    const summary = await ask(requestWith([userMessage("Summarise the conversation.")], { tools: [] }));
    const after = await ask(requestWith([userMessage("run ls"), userMessage(`Summary:\n${textIn(summary.blocks)}`)]));
    expect(callIn(after.blocks)).toBeUndefined();
    expect(textIn(after.blocks)).toContain("FAILED");
  });

  test("the same conversation always gets the same reply", async () => {
    const request = requestWith([userMessage("run ls then run pwd")]);
    expect(await ask(request)).toEqual(await ask(request));
  });

  test("earlier turns and calls of another model are ignored", async () => {
    using host = openHost();
    const { messages } = await host.turn([userMessage("run echo one")]);
    const foreign: Message[] = [
      {
        role: "assistant",
        blocks: [{ type: "call", wireId: "x", name: "exec_command", form: "function", input: '{"cmd":"ls"}' }],
      },
      { role: "tool", wireId: "x", form: "function", parts: [{ type: "text", text: commandText(0, "") }] },
    ];
    const { calls } = await host.turn([...messages, userMessage("run echo one"), ...foreign]);
    expect(calls).toEqual(["exec_command"]);
  });

  test("messages of the host are not prompts", async () => {
    const rules = userMessage("# AGENTS.md instructions for /x\n\n<INSTRUCTIONS>\nrun rm -rf .\n</INSTRUCTIONS>");
    const note = userMessage("<subagent_notification>\nrun rm -rf .\n</subagent_notification>");
    const { blocks } = await ask(requestWith([rules, userMessage("run ls\n\n<stdin>\nrun rm -rf .\n</stdin>"), note]));
    expect(callIn(blocks)?.input).toBe('{"cmd":"ls"}');
  });

  test("any prompt and any result gets a reply", async () => {
    const prompt = fc.constantFrom(
      "run ls",
      "fix the failing test",
      "append x to a.txt",
      "replace a with b in c.d",
      "$s",
      "move a.b to c.d",
    );
    const result = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string().map((text) => commandText(1, text)),
      fc.constant(""),
    );
    await fc.assert(
      fc.asyncProperty(prompt, fc.string(), fc.array(result, { maxLength: 6 }), async (known, extra, results) => {
        const messages: Message[] = [userMessage(`${known} then ${extra}`)];
        for (const text of results) {
          const { blocks } = await ask(requestWith(messages));
          const call = callIn(blocks);
          messages.push({ role: "assistant", blocks }, ...(call ? [toolResult(call, text)] : [userMessage(text)]));
        }
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? 200) },
    );
  });
});

describe("the reply", () => {
  test("streams its text, estimates usage and names the model", async () => {
    const progress: ModelProgress[] = [];
    const request = requestWith([userMessage("run ls")]);
    const reply = await openPracticeModel().reply(
      request,
      (update) => progress.push(update),
      new AbortController().signal,
    );
    if (reply.kind !== "replied") throw new Error("expected a reply");
    const streamed = progress.flatMap((update) => (update.type === "text" ? [update.delta] : []));
    expect(streamed.join("")).toBe(textIn(reply.blocks));
    expect(progress.at(-1)).toEqual({ type: "calling", name: "exec_command" });
    const bytes = Buffer.byteLength(JSON.stringify([request.instructions, request.messages, request.tools]));
    expect(reply).toMatchObject({
      model: "practice",
      usage: { inputTokens: Math.ceil(bytes / 4), cachedInputTokens: 0 },
    });
  });

  test("an aborted request is an interrupted fault", async () => {
    const reply = await openPracticeModel().reply(requestWith([userMessage("run ls")]), () => {}, AbortSignal.abort());
    expect(reply).toMatchObject({ kind: "fault", fault: { code: "interrupted" } });
  });

  test("satisfies an output schema with the real outcome", async () => {
    using host = openHost();
    const outputSchema = {
      type: "object",
      properties: {
        summary: { type: "string", maxLength: 200 },
        status: { enum: ["unknown", "failed", "passed"] },
        passed: { type: "boolean" },
        score: { type: "integer", minimum: 5 },
        files: { type: "array", items: { $ref: "#/$defs/file" }, minItems: 1 },
        kind: { const: "report" },
        note: { type: ["string", "null"] },
      },
      required: ["summary", "status", "passed", "score", "files", "kind", "note"],
      additionalProperties: false,
      $defs: { file: { type: "object", properties: { path: { type: "string" } }, required: ["path"] } },
    };
    const validate = new Ajv().compile(outputSchema);
    for (const [command, passed] of [
      ["true", true],
      ["false", false],
    ] as const) {
      const { text } = await host.turn([userMessage(`run ${command}`)], { outputSchema });
      const answer: unknown = JSON.parse(text);
      expect(validate(answer)).toBe(true);
      expect(answer).toMatchObject({ passed, status: passed ? "passed" : "failed" });
    }
  });
});
