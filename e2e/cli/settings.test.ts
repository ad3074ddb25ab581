import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";
import { hello } from "./system-harness.ts";

describe("settings with an effect on every run", () => {
  const inputOf = (request: { body: unknown } | undefined) =>
    request?.body as { instructions: string; input: { role: string; content: { text: string }[] }[] };

  test("model_instructions_file replaces the instructions, developer_instructions adds to them", async () => {
    const { run, home, requests } = await openHarness({ replies: [replyWith("Done.")] });
    writeFileSync(join(home, "base.md"), "Only ever answer in rhyme.");
    writeFileSync(
      join(home, "again.config.toml"),
      'model_instructions_file = "base.md"\ndeveloper_instructions = "Be kind."',
    );
    expect((await run(["exec", "-p", "again", "hi"])).code).toBe(0);
    const { instructions, input } = inputOf(requests()[0]);
    expect(instructions).toBe("Only ever answer in rhyme.");
    expect(input[0]).toMatchObject({ role: "developer", content: [{ text: "Be kind." }] });
    const missing = await run(["exec", "-c", "model_instructions_file=gone.md", "hi"]);
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("model_instructions_file cannot be read"),
    });
  });

  test("notify starts a program with one JSON argument at the end of a completed turn", async () => {
    const { run, home, repository } = await openHarness({ replies: [replyWith("Done.")] });
    const received = join(home, "received.json");
    const script = `process.argv[2] && require("fs").writeFileSync(process.argv[1] + ".part", process.argv[2]); require("fs").renameSync(process.argv[1] + ".part", process.argv[1])`;
    const argv = JSON.stringify([process.execPath, "-e", script, received]);
    expect((await run(["exec", "-c", `notify=${argv}`, "say hello"])).code).toBe(0);
    await expect.poll(() => existsSync(received)).toBe(true);
    expect(JSON.parse(readFileSync(received, "utf8"))).toEqual({
      type: "agent-turn-complete",
      "thread-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      "turn-id": expect.stringMatching(/^[0-9a-f-]{36}$/),
      cwd: repository,
      "input-messages": ["say hello"],
      "last-assistant-message": "Done.",
    });
  });

  test("notify gets words that are data, but runs no script of the workspace", async () => {
    const replies = [replyWith("Done."), replyWith("Done.")];
    const { run, home } = await openHarness({ replies, files: { "out.log": "", "planted.py": "" } });
    const received = join(home, "received");
    const script = `require("fs").writeFileSync(process.argv[1], "")`;
    const argv = [process.execPath, "-e", script, received, "/dev/null", "/tmp", "./out.log"];
    const first = await run(["exec", "-c", `notify=${JSON.stringify(argv)}`, "hi"]);
    expect(first.stderr).not.toContain("notify");
    await expect.poll(() => existsSync(received)).toBe(true);
    const second = await run(["exec", "-c", 'notify=["python3", "-u", "planted.py", "./out.log"]', "hi"]);
    expect(second.stderr).toContain("the program of notify was not started: an agent can change planted.py.");
  });

  test("a program of notify that cannot be started is reported, and the run is completed", async () => {
    const { run } = await openHarness({ replies: [replyWith("Done.")] });
    const { code, stderr } = await run(["exec", "-c", 'notify=["/no/such/program"]', "hi"]);
    expect(code).toBe(0);
    expect(stderr).toContain("warning: the program of notify could not be started");
  });

  test.each([
    [
      "responses",
      "hgih",
      'with wire_api = "responses" it must be one of none, minimal, low, medium, high, xhigh, max, ultra. Did you mean high?',
    ],
    ["chat", "ultra", 'with wire_api = "chat" it must be one of none, minimal, low, medium, high, xhigh.'],
  ] as const)("model_reasoning_effort is checked for the %s wire", async (wireApi, effort, message) => {
    const { run, requests } = await openHarness({ replies: [replyWith("Done.")], wireApi });
    const { code, stderr } = await run(["exec", "-c", `model_reasoning_effort=${effort}`, "hi"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(requests()).toEqual([]);
  });

  test.each([
    ["responses", "flex", "flex"],
    ["chat", "flex", "flex"],
    ["responses", "fast", "priority"],
  ] as const)("service_tier is part of requests on the %s wire: %s is %s", async (wireApi, tier, sent) => {
    const { run, requests } = await openHarness({ replies: [replyWith("Done."), replyWith("Done.")], wireApi });
    await run(["exec", "-c", `service_tier=${tier}`, "hi"]);
    await run(["exec", "hi"]);
    const [with_, without] = requests().map(({ body }) => body as { service_tier?: string });
    expect([with_?.service_tier, without?.service_tier]).toEqual([sent, undefined]);
  });

  test("hide_agent_reasoning leaves reasoning out of the output and in the session", async () => {
    const reasoned = { ...replyWith("Done."), reasoning: { summary: ["Let me look."], encrypted: "opaque" } };
    const { run, requests, sessionFile } = await openHarness({ replies: [reasoned, reasoned, replyWith("More.")] });
    const hide = ["-c", "hide_agent_reasoning=true"];
    const person = await run(["exec", "--ephemeral", ...hide, "hi"]);
    const program = await run(["exec", "--json", ...hide, "hi"]);
    expect([person.code, program.code]).toEqual([0, 0]);
    expect(person.stderr + program.stdout + program.stderr).not.toContain("Let me look.");
    expect(readFileSync(sessionFile(), "utf8")).toContain("Let me look.");
    await run(["exec", "resume", "--last", "more"]);
    expect(JSON.stringify(requests().at(-1)?.body)).toContain("opaque");
  });

  test("compact_prompt asks for the summary of a long history", async () => {
    const long = { inputTokens: 9_000, cachedInputTokens: 0, outputTokens: 10 };
    const { run, requests } = await openHarness({
      replies: [call("exec_command", { cmd: "echo one" }, { usage: long }), replyWith("Summary."), replyWith("Done.")],
    });
    const flags = ["-c", "model_auto_compact_token_limit=8000", "-c", "compact_prompt='In one haiku, please.'"];
    expect(await run(["exec", ...flags, "hi"])).toMatchObject({ code: 0, stdout: "Done.\n" });
    const asked = JSON.stringify(requests()[1]?.body);
    expect(asked).toContain("In one haiku, please.");
    expect(asked).not.toContain("hand-over summary");
  });

  test("a key without effect warns at each start, and --strict-config refuses it", async () => {
    const { run, home } = await openHarness({ replies: [replyWith("Done.")] });
    const file = join(home, "config.toml");
    writeFileSync(
      file,
      `cli_auth_credentials_store = "keyring"\n${readFileSync(file, "utf8")}supports_websockets = false\n`,
    );
    const { code, stderr } = await run(["exec", "hi"]);
    expect(code).toBe(0);
    expect(stderr).toContain(`warning: ${file}: cli_auth_credentials_store has no effect in agentcli.`);
    expect(stderr).not.toContain("supports_websockets");
    expect((await run(["exec", "--strict-config", "hi"])).code).toBe(2);
  });

  test.each([
    ["anthropic", 'model_verbosity="low"', 'model_verbosity has no effect: wire_api = "anthropic"'],
    ["anthropic", 'service_tier="flex"', 'service_tier = "flex" has no effect: with wire_api = "anthropic"'],
    ["anthropic", 'model_reasoning_effort="high"', "model_reasoning_effort has no effect: agentcli does not know how"],
    ["chat", 'model_reasoning_summary="detailed"', 'model_reasoning_summary has no effect: wire_api = "chat"'],
  ] as const)(
    "with wire_api %s, %s warns at each start, and --strict-config refuses it",
    async (wireApi, key, warning) => {
      const { run, requests } = await openHarness({ ...hello, wireApi });
      expect(await run(["exec", "-c", key, "hi"])).toMatchObject({ code: 0, stderr: expect.stringContaining(warning) });
      const refused = await run(["exec", "--strict-config", "-c", key, "hi"]);
      expect(refused).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(/^ERROR: .* has no effect: .* Fix or remove it\.$/m),
      });
      expect(requests()).toHaveLength(1);
    },
  );

  test("the settings that a wire has a place for are sent without a warning", async () => {
    const { run, requests } = await openHarness({ ...hello, wireApi: "chat" });
    const flags = ["-c", 'model_verbosity="low"', "-c", 'service_tier="flex"'];
    const { stderr } = await run(["exec", "--strict-config", ...flags, "hi"]);
    expect(stderr).not.toContain("has no effect");
    expect(requests()[0]?.body).toMatchObject({ verbosity: "low", service_tier: "flex" });
  });
});
