import { call, replyWith, startModelServer } from "@agentcli/testkit";
import type { StreamFrame } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { openRunHarness } from "./run-harness.ts";

const shell = (cmd: string) => call("exec_command", { cmd });

const settledCalls = (frames: StreamFrame[]): StreamFrame[] =>
  frames.filter(({ event, data }) => event === "tool_call" && data.status !== "running");

const skill = (name: string, body: string) => `---\nname: ${name}\ndescription: How to ${name}.\n---\n${body}\n`;
const rule = (matter: string, body: string) => `---\n${matter}\n---\n${body}\n`;

test("AGENTS.md, rules and skills of the repository apply to the run, nested ones once their directory is touched", async () => {
  const { client, requests, repository } = await openRunHarness({
    replies: [call("read_file", { path: "/workspace/shaped/inner/code.ts" }), replyWith("Read.")],
  });
  const url = await repository("shaped", {
    "AGENTS.md": "Write short words.",
    "inner/AGENTS.md": "Inner code is old.",
    "inner/code.ts": "export {};\n",
    ".platform/rules/always.mdc": rule("alwaysApply: true", "Always greet."),
    ".platform/rules/typescript.mdc": rule('globs: "**/*.ts"', "Types first."),
    ".platform/skills/release/SKILL.md": skill("release", "Tag, then push."),
    ".agents/skills/tidy/SKILL.md": skill("tidy", "Sweep the floor."),
  });
  const ids = await client.create({ prompt: { text: "/release and $tidy" }, repos: [{ url }] });
  await client.stream(ids);
  const [first, second] = requests().map(({ body }) => JSON.stringify(body));
  for (const text of ["Write short words.", "Always greet.", "How to release.", "Tag, then push.", "Sweep the floor."])
    expect(first).toContain(text);
  for (const text of ["Inner code is old.", "Types first."]) {
    expect(first).not.toContain(text);
    expect(second).toContain(text);
  }
  expect(first).toContain("/workspace/shaped/.agents/skills/tidy/SKILL.md");
  expect(second).not.toMatch(/workspaces.bc-/);
});

test("symbolic links out of a repository are not read into the conversation", async () => {
  const { client, requests, repository, dataDirectory } = await openRunHarness({
    replies: { replies: [replyWith("Done.")], repeat: "last" },
  });
  const url = await repository("linking", { "README.md": "plain" });
  const first = await client.create({ prompt: { text: "make links" }, repos: [{ url }] });
  await client.stream(first);
  const { mkdirSync, symlinkSync, writeFileSync } = await import("node:fs");
  const root = `${dataDirectory}/workspaces/${first.agentId}/linking`;
  writeFileSync(`${dataDirectory}/secret.md`, "---\nname: taken\ndescription: d\n---\nnot for you");
  mkdirSync(`${root}/.platform/skills/taken`, { recursive: true });
  symlinkSync(`${dataDirectory}/secret.md`, `${root}/.platform/skills/taken/SKILL.md`);
  symlinkSync(`${dataDirectory}/secret.md`, `${root}/AGENTS.md`);
  await client.stream(await client.followUp(first.agentId, { prompt: { text: "use $taken" } }));
  expect(JSON.stringify(requests())).not.toContain("not for you");
});

test("sub-agents of the request and of the repository are threads of the run, and charged to it", async () => {
  const usage = { inputTokens: 100, cachedInputTokens: 0, outputTokens: 10 };
  const { client, requests, repository, fixture } = await openRunHarness({
    replies: {
      replies: [
        { when: { bodyIncludes: "count the files" }, ...replyWith("There are three.", { usage }) },
        { when: { bodyIncludes: "You are careful" }, ...replyWith("Careful.", { usage }) },
        call("spawn_agent", { message: "count the files", agent_type: "counter" }, { usage }),
        call("wait_agent", { targets: ["counter"] }, { usage }),
        replyWith("Three files.", { usage }),
      ],
    },
  });
  const url = await repository("many", {
    ".platform/agents/reader.md": "---\nname: reader\ndescription: Reads.\nreadonly: true\n---\nRead only.\n",
  });
  const ids = await client.create({
    prompt: { text: "how many?" },
    repos: [{ url }],
    customSubagents: [{ name: "counter", description: "Counts things.", prompt: "You are a counter." }],
  });
  const frames = await client.stream(ids);
  expect(frames.at(-2)?.data).toMatchObject({ status: "FINISHED", text: "Three files." });
  const tasks = frames.filter(({ event, data }) => event === "tool_call" && data.name === "task");
  expect(tasks.map(({ data }) => data.status)).toEqual(["running", "completed", "running", "completed"]);
  expect(JSON.stringify(requests()[0]?.body)).toContain("reader: Reads.");
  const child = requests().find(({ body }) => JSON.stringify(body).includes("You are a counter."));
  expect(child).toBeDefined();
  const output = frames.flatMap(({ event, data }) => (event === "assistant" ? [data.text] : []));
  expect(output.join("")).toBe("Three files.");
  const threads = await fixture.platform.db.selectFrom("threads").select(["id", "parent_id"]).execute();
  expect(threads.filter(({ parent_id }) => parent_id === ids.agentId)).toHaveLength(1);
  const used = await client.getJson<{ totalUsage: object }>(`/v1/agents/${ids.agentId}/usage`);
  expect(used.totalUsage).toMatchObject({ inputTokens: 400, outputTokens: 40 });
  const ended = frames.find(({ data }) => data.type === "turn-ended");
  expect(ended?.data.usage).toMatchObject({ inputTokens: 400, outputTokens: 40 });
  const path = `/v1/agents/${ids.agentId}/runs/${ids.runId}/subagents`;
  const { items } = await client.getJson<{ items: { id: string; cost: { chargedCents: number } }[] }>(path);
  expect(items).toMatchObject([{ name: "counter", task: "count the files", status: "completed" }]);
  expect(items[0]?.cost.chargedCents).toBeCloseTo((100 * 1 + 10 * 10) / 1_000_000 / 0.01, 10);
  const started = tasks[1]?.data.result as { success: { agentId: string } };
  expect(started.success.agentId).toBe(items[0]?.id);
  expect(await client.getJson(`${path}/${items[0]?.id}`)).toMatchObject({
    events: [{ event: "assistant", data: { text: "There are three." } }],
  });
});

test("sub-agents with a model of another provider are asked there", async () => {
  const other = await startModelServer([replyWith("Counted elsewhere.")]);
  onTestFinished(() => other.close());
  const replies = [
    call("spawn_agent", { message: "count the files", agent_type: "counter" }),
    call("wait_agent", { targets: ["counter"] }),
    replyWith("Three files."),
  ];
  const { client, requests } = await openRunHarness({
    replies,
    models: { models: ["other/small"] },
    providers: { other: { base_url: other.url, wire_api: "chat" } },
  });
  const ids = await client.create({
    prompt: { text: "how many?" },
    customSubagents: [{ name: "counter", description: "Counts.", prompt: "You count.", model: "other/small" }],
  });
  const frames = await client.stream(ids);
  expect(frames.at(-2)?.data).toMatchObject({ status: "FINISHED", text: "Three files." });
  expect(other.requests()).toMatchObject([{ path: "/v1/chat/completions", body: { model: "small" } }]);
  expect(JSON.stringify(requests().at(-1)?.body)).toContain("Counted elsewhere.");
});

test("skills, commands and agents of other tools in the repository are used, unless the server does not read them", async () => {
  const files = {
    ".claude/agents/critic.md": "---\nname: critic\ndescription: Finds faults.\ntools: Read\n---\nYou criticise.\n",
    ".claude/commands/ship.md": "Ship $1 today.\n",
    ".codex/skills/tidy/SKILL.md": skill("tidy", "Sweep the floor."),
  };
  const firstRequest = async (models: { compatible_folders?: boolean }) => {
    const { client, requests, repository } = await openRunHarness({ replies: [replyWith("Done.")], models });
    const url = await repository("shared", files);
    await client.stream(await client.create({ prompt: { text: "/ship parcels" }, repos: [{ url }] }));
    return JSON.stringify(requests()[0]?.body);
  };
  const texts = ["critic: Finds faults.", "Ship parcels today.", "How to tidy."];
  const read = await firstRequest({});
  expect(texts.filter((text) => !read.includes(text))).toEqual([]);
  const ignored = await firstRequest({ compatible_folders: false });
  expect(texts.filter((text) => ignored.includes(text))).toEqual([]);
});

const hooks = (entries: object) => JSON.stringify({ version: 1, hooks: entries });

test("hooks of the repository run in the workspace: they deny calls and receive events", async () => {
  const { client, repository, requests, records } = await openRunHarness({
    replies: [shell("rm -rf build"), shell("echo one"), shell('cat "$HOME/seen"; ls "$HOME"'), replyWith("Done.")],
  });
  const url = await repository("guarded", {
    ".platform/hooks.json": hooks({
      beforeShellExecution: [{ command: "sh hooks/guard.sh", matcher: "rm" }],
      afterShellExecution: [{ command: 'cat > "$HOME/seen"' }],
      sessionStart: [{ command: 'touch "$HOME/started"' }],
      stop: [{ type: "prompt", prompt: "Is it done?" }],
    }),
    "hooks/guard.sh": 'echo \'{"permission":"deny","user_message":"no deleting here"}\'\n',
  });
  const ids = await client.create({ prompt: { text: "clean up" }, repos: [{ url }] });
  const frames = await client.stream(ids);
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED" });
  const calls = settledCalls(frames).filter(({ data }) => data.name !== "hook");
  const ran = settledCalls(frames).filter(({ data }) => data.name === "hook");
  const after = { status: "completed", args: { event: "afterShellExecution", outcome: "completed" } };
  expect(ran.map(({ data }) => data)).toMatchObject([
    { status: "error", args: { event: "beforeShellExecution", outcome: "blocked" } },
    ...[after, after],
  ]);
  expect(ran[0]?.data).toMatchObject({
    args: { hook: "/workspace/guarded/.platform/hooks.json:before_shell_execution:0:0" },
    result: { error: { message: "no deleting here" } },
  });
  expect(calls[0]?.data).toMatchObject({ status: "error" });
  expect(JSON.stringify(calls[0]?.data)).toContain("no deleting here");
  expect(JSON.stringify(requests().at(-1)?.body)).toContain("no deleting here");
  const looked = JSON.stringify(calls[2]?.data);
  expect(looked).toContain("afterShellExecution");
  expect(looked).toContain("echo one");
  expect(looked).not.toContain("started");
  const notes = (await records(ids.agentId)).flatMap((record) =>
    record.type === "noted" && record.kind === "hook" && "status" in record.data ? [record.data] : [],
  );
  const skipped = notes.filter(({ status }) => status === "skipped").map(({ event, reason }) => [event, reason]);
  expect(skipped).toEqual([
    ["sessionStart", "sessionStart hooks run on workers alone"],
    ["stop", expect.stringContaining("type prompt")],
  ]);
});

test("an agent cannot change its guard: a modified hook script denies the call", async () => {
  const { client, repository } = await openRunHarness({
    replies: [shell("echo 'echo {}' > hooks/guard.sh; touch .platform/mine"), shell("echo free"), replyWith("Done.")],
  });
  const url = await repository("frozen", {
    ".platform/hooks.json": hooks({ beforeShellExecution: [{ command: "sh hooks/guard.sh" }] }),
    "hooks/guard.sh": "echo '{}'\n",
  });
  const ids = await client.create({ prompt: { text: "get around it" }, repos: [{ url }] });
  const frames = await client.stream(ids);
  const calls = settledCalls(frames).filter(({ data }) => data.name !== "hook");
  expect(calls.map(({ data }) => data.status)).toEqual(["completed", "error"]);
  expect(JSON.stringify(calls[1]?.data)).toContain("hook modified");
});

test("rules of the repository forbid commands, and an invalid rule prevents the run from starting", async () => {
  const { client, repository, requests } = await openRunHarness({
    replies: [shell("cd . && git push --force"), shell("echo free"), replyWith("Done.")],
  });
  const rule = 'prefix_rule(pattern = ["git", "push"], decision = "forbidden", justification = "the host pushes")\n';
  const url = await repository("ruled", { ".agentcli/rules/default.rules": rule });
  const ids = await client.create({ prompt: { text: "push" }, repos: [{ url }] });
  const calls = settledCalls(await client.stream(ids));
  expect(calls.map(({ data }) => data.status)).toEqual(["error", "completed"]);
  expect(JSON.stringify(requests()[1]?.body)).toContain("the host pushes");
  const wrong = await repository("misruled", { ".agentcli/rules/default.rules": 'prefix_rule(pattern = "")\n' });
  const refused = await client.create({ prompt: { text: "push" }, repos: [{ url: wrong }] });
  await client.stream(refused);
  expect(await client.read(refused)).toMatchObject({
    status: "ERROR",
    error: { code: "invalid_rules", message: expect.stringContaining(" misruled/.agentcli/rules/default.rules:1:") },
  });
});
