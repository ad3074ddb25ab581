// Which model a run uses: the one that was configured or chosen, and no other in its place.
import { parseCommandLine } from "@agentcli/command-line";
import { replyWith, startModelServer, temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { syntax } from "../../src/commands/syntax.ts";
import { loadSettings } from "../../src/foundation/config/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import { settingsOfTeam } from "../../src/identity/index.ts";
import { describeModel } from "../../src/runs/index.ts";
import { openRunHarness } from "./run-harness.ts";

test.each([
  [
    "without a key",
    { model: "gpt-5.4", model_provider: undefined },
    "auth",
    /gpt-5\.4 of provider openai.*AGENT_API_KEY/,
  ],
  ["of a provider that is not configured", { model: "m", model_provider: "gone" }, "refused", /provider "gone"/],
  [
    "that cannot be reached",
    {
      model_providers: {
        scripted: { base_url: "http://127.0.0.1:1/v1", request_max_retries: 0, stream_max_retries: 0 },
      },
    },
    "network",
    /127\.0\.0\.1:1|reach/,
  ],
])("a run with a model %s ends with the reason, not with the practice model", async (_case, models, code, message) => {
  const { client } = await openRunHarness({ replies: [], models });
  const ids = await client.create({ prompt: { text: "run echo hello" } });
  await client.stream(ids);
  const { status, error } = await client.read(ids);
  expect([status, error?.code, error?.message]).toEqual(["ERROR", code, expect.stringMatching(message)]);
});

test("models of several providers are used side by side", async () => {
  const other = await startModelServer([replyWith("From the other one.")]);
  onTestFinished(() => other.close());
  const first = await startModelServer([replyWith("From the first one.")]);
  onTestFinished(() => first.close());
  const { client } = await openRunHarness({
    replies: [],
    models: {
      model_providers: { scripted: { base_url: first.url }, other: { base_url: other.url } },
      models: ["other/large"],
    },
  });
  const ids = await client.create({ prompt: { text: "one" } });
  await client.stream(ids);
  expect(await client.read(ids)).toMatchObject({ result: "From the first one.", model: { provider: "scripted" } });
  const next = await client.followUp(ids.agentId, { prompt: { text: "two" }, model: { id: "other/large" } });
  await client.stream(next);
  expect(await client.read(next)).toMatchObject({
    result: "From the other one.",
    model: { id: "large", provider: "other" },
  });
  expect(other.requests().map(({ body }) => (body as { model: string }).model)).toEqual(["large"]);
});

test("what a team may not use is refused when it runs, whatever was allowed before", async () => {
  const {
    client,
    fixture: { platform },
  } = await openRunHarness({
    replies: [replyWith("Allowed.")],
    models: { models: ["other"], model_fallback: ["other"] },
  });
  const ids = await client.create({ prompt: { text: "one" } });
  await client.stream(ids);
  expect(await client.read(ids)).toMatchObject({ result: "Allowed." });
  const { team_id } = await platform.db.selectFrom("agents").select("team_id").executeTakeFirstOrThrow();
  const settings = JSON.stringify({ allowedModels: ["practice"] });
  await platform.db.insertInto("team_settings").values({ team_id, settings }).execute();
  const { models } = await settingsOfTeam(platform, team_id);
  expect([models.model, models.allowed]).toEqual(["practice", ["practice"]]);
  const next = await client.create({ prompt: { text: "say hello" } });
  await client.stream(next);
  expect(await client.read(next)).toMatchObject({ model: { id: "practice" } });
});

const settingsWith = (variables: NodeJS.ProcessEnv, home: string) =>
  loadSettings({ flags: {}, variables, userHome: home, cwd: home, programDirectory: home }).settings;

test("the practice model is the default only if nothing is configured", () => {
  const modelWith = (variables: NodeJS.ProcessEnv) => settingsWith(variables, "/nowhere").models.model;
  expect(modelWith({})).toBe("practice");
  expect(modelWith({ AGENT_API_KEY: "key" })).toBe("gpt-5.4");
  expect(modelWith({ PLATFORM_OPENAI_BASE_URL: "http://127.0.0.1:1/v1" })).toBe("gpt-5.4");
  expect(modelWith({ PLATFORM_MODELS: "anthropic/claude-opus-5-5" })).toBe("gpt-5.4");
  expect(modelWith({ AGENT_API_KEY: "key", PLATFORM_MODEL: "practice" })).toBe("practice");
});

test("the first line of a server says when its model cannot be used", () => {
  const described = (variables: NodeJS.ProcessEnv) => describeModel(settingsWith(variables, "/nowhere"));
  expect(described({ AGENT_API_KEY: "key" })).toBe("gpt-5.4 of openai at https://api.openai.com/v1");
  expect(described({ PLATFORM_MODEL: "gpt-5.4" })).toMatch(
    / \(cannot be used: The model gpt-5\.4 of provider openai needs a key, and AGENT_API_KEY is not set\.\)$/,
  );
  expect(described({ PLATFORM_MODEL_PROVIDER: "gone" })).toMatch(/^gpt-5\.4 of gone \(cannot be used: .*"gone"/);
  expect(described({})).toMatch(/^the practice model: scripted, no intelligence/);
});

test("a provider in the configuration is enough not to use the practice model", async () => {
  const home = await temporaryDirectory({
    ".platform/config.toml": '[model_providers.mine]\nbase_url = "http://127.0.0.1:1/v1"\n',
  });
  onTestFinished(() => home.remove());
  expect(settingsWith({}, home.path).models.model).toBe("gpt-5.4");
});

test("platform models tries each model, and names those that do not answer", async () => {
  const model = await startModelServer([replyWith("OK")]);
  const home = await temporaryDirectory();
  onTestFinished(async () => {
    await model.close();
    await home.remove();
  });
  let printed = "";
  const line = parseCommandLine(["models"], syntax);
  if (line.kind !== "command") throw new Error("models is not a command");
  const code = await (await line.command.load()).run(line.invocation, {
    variables: {
      AGENT_API_KEY: "key",
      PLATFORM_OPENAI_BASE_URL: model.url,
      PLATFORM_MODELS: "ollama/small",
      AGENT_OSS_PORT: "1",
    },
    userHome: home.path,
    cwd: home.path,
    directory: home.path,
    readInput: async () => "",
    print: (text) => {
      printed += text;
    },
    log: silentLog,
    signal: new AbortController().signal,
  });
  expect(printed.split("\n")).toEqual([
    `ok   gpt-5.4 of openai at ${model.url}`,
    expect.stringMatching(/^FAIL small of ollama at http:\/\/localhost:1\/v1: network: /),
    "note practice: scripted, no key, no intelligence",
    "",
  ]);
  expect(code).toBe(1);
});
