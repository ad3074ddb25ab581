import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

interface Sent {
  tools: { name: string; description: string }[];
  messages: { content: { type: string; [field: string]: unknown }[] }[];
}

test("thinking on the Anthropic wire is sent back with its signature, also after a resume", async () => {
  const { run, requests } = await openHarness({
    wireApi: "anthropic",
    replies: [
      { ...call("exec_command", { cmd: "exit 4" }), reasoning: { summary: ["Try it."] } },
      replyWith("It fails."),
      replyWith("Still."),
    ],
  });
  expect(await run(["exec", "run it"])).toMatchObject({ code: 0, stdout: "It fails.\n" });
  expect(await run(["exec", "resume", "--last", "and now?"])).toMatchObject({ code: 0, stdout: "Still.\n" });
  // The scripted server refuses a signature that does not belong to the text.
  const sent = requests().map(({ body }) => body as Sent);
  expect(sent).toHaveLength(3);
  for (const { messages } of sent.slice(1)) {
    const blocks = messages.flatMap(({ content }) => content);
    expect(blocks.find(({ type }) => type === "thinking")).toMatchObject({ thinking: "Try it." });
    expect(blocks.find(({ type }) => type === "tool_result")).toMatchObject({ is_error: true });
  }
  const tool = (name: string) => sent[0]?.tools.find((offered) => offered.name === name);
  expect(tool("apply_patch")?.description).toContain('start: "*** Begin Patch"');
  expect(tool("edit_file")).toBeDefined();
});

test("models lists what each configured provider offers, and says which one does not answer", async () => {
  const { run } = await openHarness({
    config: '[model_providers.gone]\nbase_url = "http://127.0.0.1:9/v1"\nwire_api = "chat"\n',
  });
  const { code, stdout, stderr } = await run(["models"]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^scripted\n {2}scripted {2}128k tokens, .*price unknown$/m);
  expect(stdout).toContain("gone\n  not listed\n");
  expect(stderr).toMatch(/warning: gone: gone \(http:\/\/127\.0\.0\.1:9\/v1\/models\) did not answer/);
  const listed = JSON.parse((await run(["models", "--provider", "scripted", "--json"])).stdout);
  expect(listed).toMatchObject([
    { provider: "scripted", error: null, models: [{ id: "scripted", context_window: 128_000, usd_per_million: null }] },
  ]);
  expect(await run(["models", "--provider", "gone"])).toMatchObject({ code: 4 });
  expect(await run(["models", "--provider", "nowhere"])).toMatchObject({ code: 2 });
});

test("models try says whether a model answers and calls tools", async () => {
  const { run, requests } = await openHarness({
    replies: [replyWith("OK"), call("report", { word: "OK" }), replyWith("OK"), replyWith("I would rather not.")],
  });
  const good = await run(["models", "try", "scripted"]);
  expect(good).toMatchObject({ code: 0 });
  expect(good.stdout).toMatch(/^scripted of scripted\nok {3}answers \(.* s\)\nok {3}calls tools \(.* s\)\n$/);
  expect(requests()).toHaveLength(2);
  const silent = await run(["models", "try", "scripted", "--json"]);
  expect(silent.code).toBe(1);
  expect(JSON.parse(silent.stdout).trials).toMatchObject([
    { name: "answers", works: true },
    { name: "calls tools", works: false, problem: expect.stringContaining("did not call the tool") },
  ]);
  const gone = await run(["models", "try", "x", "-c", "model_providers.scripted.base_url='http://127.0.0.1:9/v1'"]);
  expect(gone).toMatchObject({ code: 4, stdout: expect.stringContaining("FAIL answers: ") });
  expect((await run(["models", "try"])).code).toBe(2);
});

test("a model that is not in the catalogue is reported once, and models.toml describes it", async () => {
  const { run, home } = await openHarness({ replies: { replies: [replyWith("Hi.")], repeat: "last" } });
  const config = join(home, "config.toml");
  writeFileSync(config, readFileSync(config, "utf8").replace("model_context_window = 128000\n", ""));
  const unknown = await run(["exec", "hi"]);
  expect(unknown.stderr.match(/is not in the catalogue/g)).toHaveLength(1);
  expect(unknown.stderr).toContain(`Describe it in ${join(home, "models.toml")}.`);
  writeFileSync(join(home, "models.toml"), '["scripted"]\ncontext_window = 32_000\ninput = 1\noutput = 2\n');
  const described = await run(["exec", "--budget", "usd=1", "hi"]);
  expect(described).toMatchObject({ code: 0, stdout: "Hi.\n" });
  expect(described.stderr).not.toContain("catalogue");
  const listed = JSON.parse((await run(["models", "--provider", "scripted", "--json"])).stdout);
  expect(listed[0].models).toMatchObject([{ context_window: 32_000, usd_per_million: { input: 1, output: 2 } }]);
  writeFileSync(join(home, "models.toml"), '["scripted"]\nwindow = 1\n');
  expect(await run(["exec", "hi"])).toMatchObject({ code: 2, stderr: expect.stringContaining("models.toml line 2: ") });
});
