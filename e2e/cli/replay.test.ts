import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { type Harness, itemsOf, openHarness, sessionFiles } from "@agentcli/testkit/cli";
import { stdioServerProgram } from "@agentcli/testkit/mcp";
import { describe, expect, test } from "vitest";
import { agentcliHooks } from "./hook-harness.ts";

/** The program with nothing but a loopback that is down: asking a model or a server fails. */
const withoutNetwork = { node: "bwrap", nodeArguments: ["--dev-bind", "/", "/", "--unshare-net", process.execPath] };

const secret = "sk-canary-0123456789abcdef";

/** A run with a hook, an MCP server, a sub-agent, a secret in a command, and a compaction. */
async function recordEverything(): Promise<{ harness: Harness; file: string; stdout: string }> {
  const harness = await openHarness({
    files: {
      "AGENTS.md": "Be kind.\n",
      "long.txt": "a long line\n".repeat(50),
      ".agentcli/hooks.json": agentcliHooks({ PreToolUse: [{ command: "echo '{}'" }] }),
    },
    config: `[mcp_servers.fake]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([stdioServerProgram])}\n`,
    replies: [
      call("mcp__fake__echo", { message: "hello" }),
      call("spawn_agent", { message: "do your part", agent_type: "worker" }),
      { ...replyWith("My part is done."), when: { bodyIncludes: "You do one piece of a larger task" } },
      { ...call("wait_agent", { targets: ["worker"] }), when: { bodyIncludes: "agent_id" } },
      { ...call("exec_command", { cmd: `cat long.txt; ${showSecret}` }), usage: { inputTokens: 9_000 } },
      replyWith("A summary of it all."),
      replyWith(`All done, ${secret}.`),
      replyWith("Live."),
    ],
  });
  const file = join(harness.home, "run.jsonl");
  const flags = ["--dangerously-bypass-hook-trust", "-c", "model_auto_compact_token_limit=8000", "--record", file];
  const { code, stdout, stderr, events } = await harness.events([...flags, `work with ${secret}`], {
    env: { AGENT_API_KEY: secret },
  });
  expect({ code, stderr }).toMatchObject({ code: 0 });
  for (const type of ["hook", "mcp_tool_call", "collab_tool_call", "command_execution"])
    expect(itemsOf(events, type), type).not.toEqual([]);
  expect(readFileSync(file, "utf8")).toContain("context.compacted");
  return { harness, file, stdout };
}

const showSecret = `echo ${secret}; printf %s ${secret} | base64; printf %s ${secret} | od -An -tx1 | tr -d ' \\n'`;

/** As a run may show it: itself, and encoded. */
const secretForms = [
  secret,
  Buffer.from(secret).toString("base64").slice(0, -3),
  Buffer.from(secret).toString("base64url").slice(0, -3),
  Buffer.from(secret).toString("hex"),
  encodeURIComponent(secret),
  [...secret].reverse().join(""),
];

const editing = [call("exec_command", { cmd: "echo made > made.txt; echo ok" }), replyWith("The file is made.")];

/** A run that makes a file; the replies of `more` are for runs after it. */
async function recordEdit(...more: ReturnType<typeof replyWith>[]) {
  const harness = await openHarness({ replies: [...editing, ...more], files: { "AGENTS.md": "Be kind.\n" } });
  const file = join(harness.home, "run.jsonl");
  const { stdout } = await harness.events(["-s", "workspace-write", "--record", file, "make a file"]);
  const made = join(harness.repository, "made.txt");
  expect(existsSync(made)).toBe(true);
  rmSync(made);
  return { harness, file, stdout, made };
}

/** The id of the first thread of this harness. */
const idOfOnly = ({ home }: Harness): string => {
  const [first = ""] = sessionFiles(home).sort();
  return JSON.parse(readFileSync(first, "utf8").split("\n")[0] ?? "").record.threadId;
};

describe("a recorded run", () => {
  test("with hooks, an MCP server, a sub-agent and a compaction replays byte for byte without network, holds no secret and names what changed", async () => {
    const { harness, file, stdout } = await recordEverything();
    const asked = harness.requests().length;
    const replayed = await harness.run(["replay", file, "--json"], withoutNetwork);
    expect(replayed.stderr).toBe("");
    expect(replayed).toMatchObject({ code: 0, stdout });
    expect(harness.requests()).toHaveLength(asked);
    const recorded = readFileSync(file, "utf8");
    for (const form of secretForms) expect(recorded).not.toContain(form);
    writeFileSync(join(harness.repository, "AGENTS.md"), "Be kinder.\n");
    const changed = await harness.run(["replay", file, "--json"], withoutNetwork);
    expect(changed.stderr).toMatch(/replay: context\[\d\]\.parts\[0\]\.text: recorded .*Be kind.*now .*Be kinder/);
    expect(harness.requests()).toHaveLength(asked);
  });

  test("compares instructions that were read later in the run", async () => {
    const harness = await openHarness({
      files: { "sub/AGENTS.md": "Nested.\n", "sub/a.txt": "a\n", "other/b.txt": "b\n" },
      replies: [
        call("exec_command", { cmd: "cat sub/a.txt other/b.txt" }),
        replyWith("Read."),
        replyWith("Live."),
        replyWith("Live."),
      ],
    });
    const file = join(harness.home, "run.jsonl");
    await harness.run(["exec", "--record", file, "read it"]);
    expect(await harness.run(["replay", file])).toMatchObject({
      code: 0,
      stdout: "Read.\n",
      stderr: expect.not.stringContaining("replay:"),
    });
    writeFileSync(join(harness.repository, "sub/AGENTS.md"), "Nested differently.\n");
    const changed = await harness.run(["replay", file]);
    expect(changed.stdout).toBe("Live.\n");
    expect(changed.stderr).toMatch(
      /replay: instructions for touched files, sub\/AGENTS\.md: recorded .*Nested\..*now .*differently/,
    );
    writeFileSync(join(harness.repository, "sub/AGENTS.md"), "Nested.\n");
    writeFileSync(join(harness.repository, "other/AGENTS.md"), "New here.\n");
    const added = await harness.run(["replay", file]);
    expect(added.stderr).toMatch(/touched files, other\/AGENTS\.md: recorded nothing, now .*New/);
  });

  test("is shown without doing anything again, up to an item where asked", async () => {
    const { harness, file, made } = await recordEdit();
    expect(await harness.run(["replay", file])).toMatchObject({ code: 0, stdout: "The file is made.\n" });
    const { code, stdout } = await harness.run(["replay", file, "--json", "--until", "item_0"]);
    expect(code).toBe(0);
    expect(stdout).toContain('"aggregated_output":"ok\\n"');
    expect(stdout).not.toContain("The file is made.");
    expect(existsSync(made)).toBe(false);
    const unknown = await harness.run(["replay", file, "--until", "item_7"]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("no completed item item_7") });
  });

  test("makes the calls of tools again with --tools live, and asks the model from the first other result on", async () => {
    const { harness, file, made } = await recordEdit(replyWith("It is different now."));
    const same = await harness.run(["replay", file, "--tools", "live"], { env: { AGENT_API_KEY: "unused-key-1" } });
    expect(same).toMatchObject({ code: 0, stdout: "The file is made.\n" });
    expect(existsSync(made)).toBe(true);
    const before = harness.requests().length;
    // The command fails now: its file is a directory.
    rmSync(made);
    mkdirSync(made);
    const other = await harness.run(["replay", file, "--tools", "live"]);
    expect(other.stderr).toMatch(/replay: messages\[\d\]\.parts\[0\]\.text: recorded .* From here the model is live/);
    expect(other.stdout).toBe("It is different now.\n");
    expect(harness.requests()).toHaveLength(before + 1);
  });

  test("names what has changed, and is live from there", async () => {
    const { harness, file } = await recordEdit(replyWith("Kinder."), replyWith("By another model."));
    writeFileSync(join(harness.repository, "AGENTS.md"), "Be kinder.\n");
    const changed = await harness.run(["replay", file]);
    expect(changed).toMatchObject({ code: 0, stdout: "Kinder.\n" });
    expect(changed.stderr).toMatch(/replay: context\[\d\]\.parts\[0\]\.text: recorded .*Be kind.*now .*Be kinder/);
    writeFileSync(join(harness.repository, "AGENTS.md"), "Be kind.\n");
    const other = await harness.run(["replay", file, "--model", "larger"]);
    expect(other).toMatchObject({ code: 0, stdout: "By another model.\n" });
    expect(other.stderr).toContain('replay: model: recorded "scripted", now "larger"');
    expect(harness.requests().at(-1)?.body).toMatchObject({ model: "larger" });
  });

  test("answers the requests of another run, which works for real", async () => {
    const { harness, file, made } = await recordEdit();
    const asked = harness.requests().length;
    const env = { AGENT_REPLAY: file };
    const run = await harness.run(["exec", "-s", "workspace-write", "make a file"], { env });
    expect(run).toMatchObject({ code: 0, stdout: "The file is made.\n" });
    expect(existsSync(made)).toBe(true);
    const other = await harness.run(["exec", "make two files"], { env });
    expect(other).toMatchObject({ code: 1, stdout: "" });
    expect(other.stderr).toContain('prompt: recorded "make a file", now "make two files". Record it again.');
    expect(harness.requests()).toHaveLength(asked);
  });

  test("that continues a thread or was killed is shown as far as it goes", async () => {
    const harness = await openHarness({ replies: [replyWith("One."), replyWith("Two.")] });
    const file = join(harness.home, "run.jsonl");
    await harness.run(["exec", "first"]);
    const { stdout } = await harness.run(["exec", "resume", "--last", "--json", "--record", file, "second"]);
    expect(await harness.run(["replay", file, "--json"])).toMatchObject({ code: 0, stdout });
    expect(await harness.run(["replay", file, "--model", "other"])).toMatchObject({ code: 2 });
    const lines = readFileSync(file, "utf8").trimEnd().split("\n");
    writeFileSync(file, `${lines.slice(0, -1).join("\n")}\n${lines.at(-1)?.slice(0, 20)}`);
    const cut = await harness.run(["replay", file]);
    expect(cut).toMatchObject({ code: 1, stderr: expect.stringContaining("stopped before its turn ended") });
  });

  test("can be continued from one of its items in a new thread", async () => {
    const { harness } = await recordEdit(replyWith("Another way."));
    const forked = await harness.run(["exec", "fork", `${idOfOnly(harness)}@item_0`, "do it another way"]);
    expect(forked).toMatchObject({ code: 0, stdout: "Another way.\n" });
    const body = JSON.stringify(harness.requests().at(-1)?.body);
    expect(body).toContain("echo made");
    expect(body).not.toContain("The file is made.");
    const unknown = await harness.run(["exec", "fork", `${idOfOnly(harness)}@item_9`, "go"]);
    expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining("no completed item item_9") });
  });

  test("cannot widen what a run may do, and a pipe is not read as one", async () => {
    const { harness, file } = await recordEdit();
    const [header = "", ...lines] = readFileSync(file, "utf8").split("\n");
    const { options, ...rest } = JSON.parse(header);
    const asked = harness.requests().length;
    for (const more of [
      { bypass: true },
      { sandbox: "danger-full-access" },
      { overrides: ["sandbox_mode='danger-full-access'"] },
      { sandbox: "all" },
      { profile: "mine" },
      { ignoreRules: true },
      { ignoreUserConfig: true },
      { sandboxMin: "landlock" },
      { limits: ["memory=off"] },
      { recordFile: join(harness.repository, "planted.jsonl") },
      { outputSchemaFile: "/etc/hostname" },
      { outputSchemaFile: "schemas/../../secret.json" },
      { memberOfALaterVersion: true },
    ]) {
      writeFileSync(file, [JSON.stringify({ ...rest, options: { ...options, ...more } }), ...lines].join("\n"));
      const refused = await harness.run(["replay", file, "--tools", "live"]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("It can be shown, not run live") });
    }
    for (const directory of ["..", "/", harness.home]) {
      writeFileSync(file, [JSON.stringify({ ...rest, options: { ...options, directory } }), ...lines].join("\n"));
      const refused = await harness.run(["replay", file, "--tools", "live"]);
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("say where: --cd ") });
    }
    const [first = "", ...records] = lines;
    const elsewhere = first.replaceAll(JSON.stringify(harness.repository), JSON.stringify(harness.home));
    writeFileSync(file, [header, elsewhere, ...records].join("\n"));
    expect((await harness.run(["replay", file, "--tools", "live"])).stderr).toContain("say where: --cd ");
    expect(harness.requests()).toHaveLength(asked);
    expect(existsSync(join(harness.repository, "planted.jsonl"))).toBe(false);
    const device = await harness.run(["replay", "/dev/zero"]);
    expect(device).toMatchObject({ code: 2, stderr: expect.stringContaining("not a regular file") });
  });

  test("replaces nothing but a recording", async () => {
    const harness = await openHarness();
    const notes = join(harness.repository, "notes.txt");
    writeFileSync(notes, "mine\n");
    expect(await harness.run(["exec", "--record", notes, "go"])).toMatchObject({ code: 2 });
    expect(readFileSync(notes, "utf8")).toBe("mine\n");
    expect((await harness.run(["replay", notes])).stderr).toContain("is not a recording");
  });
});
