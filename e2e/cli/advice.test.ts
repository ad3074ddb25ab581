// What agentcli answers where a run cannot start or is refused something: the first thing that is missing, and what to do.
import { fault, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";

const withoutKey = ["-c", "model_provider=openai"];

test("a missing prompt is named before missing credentials, in a new run and in a resumed one", async () => {
  const { run } = await openHarness({ replies: [replyWith("Hello.")] });
  const first = await run(["exec", ...withoutKey]);
  expect(first).toMatchObject({ code: 2, stderr: expect.stringContaining("No prompt came from standard input.") });
  expect(await run(["exec", ...withoutKey, "  "])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("The prompt is empty"),
  });
  expect((await run(["exec", "hi"])).code).toBe(0);
  const resumed = await run(["exec", "resume", "--last", ...withoutKey]);
  expect(resumed).toMatchObject({ code: 2, stderr: expect.stringContaining("Give a prompt: agentcli exec resume") });
});

test("a misspelt model is answered with the nearest name, without credentials and by a provider that lacks it", async () => {
  const { run } = await openHarness({ replies: [fault(404)] });
  const misspelt = async (model: string, ...flags: string[]) =>
    (await run(["exec", "-m", model, ...flags, "hi"])).stderr;
  expect(await misspelt("practise", ...withoutKey)).toContain("Did you mean --model practice?");
  expect(await misspelt("gpt-5-codx", ...withoutKey)).toContain("Did you mean --model gpt-5-codex?");
  expect(await misspelt("gpt-5.9", ...withoutKey)).not.toContain("Did you mean");
  expect(await misspelt("practise")).toContain("Did you mean --model practice?");
});

test("an OPENAI_API_KEY that is set but not used is mentioned, and never shown", async () => {
  const { run } = await openHarness();
  const env = { OPENAI_API_KEY: "sk-of-another-program" };
  const mention = "OPENAI_API_KEY is set";
  const runs = [
    await run(["exec", ...withoutKey, "hi"], { env }),
    await run(["exec", "--model", "practice", "hi"], { env }),
    await run(["login", "status", ...withoutKey], { env }),
    await run(["doctor", ...withoutKey], { env }),
  ];
  for (const { stdout, stderr } of runs) {
    expect(stdout + stderr).toContain(mention);
    expect(stdout + stderr).not.toContain(env.OPENAI_API_KEY);
  }
  expect((await run(["exec", ...withoutKey, "hi"])).stderr).not.toContain(mention);
});

test("a retry is a warning", async () => {
  const { run } = await openHarness({ replies: [fault(500), replyWith("Hello.")] });
  const { code, stderr } = await run(["exec", "hi"]);
  expect(code).toBe(0);
  expect(stderr).toContain("warning: Reconnecting... 1/");
  expect(stderr).not.toContain("ERROR");
});

test("a patch that the read-only sandbox refuses names the flag that allows it", async () => {
  const { run } = await openHarness();
  const { stderr } = await run(["exec", "--model", "practice", "create a.txt containing x"]);
  expect(stderr).toContain("agentcli exec -s workspace-write");
});
