import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { type Harness, type HarnessOptions, itemsOf, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { describe, expect, onTestFinished, test } from "vitest";

const hello = { replies: { replies: [replyWith("Hello.")], repeat: "last" as const } };

/** A harness with a system directory and a directory outside of the repository. */
async function openSystemHarness(
  options: HarnessOptions = hello,
): Promise<Harness & { system: string; elsewhere: string }> {
  const harness = await openHarness(options);
  const system = await temporaryDirectory();
  const elsewhere = await temporaryDirectory();
  onTestFinished(system.remove);
  onTestFinished(elsewhere.remove);
  const run: Harness["run"] = (args, more = {}) =>
    harness.run(args, { ...more, env: { AGENT_SYSTEM_DIR: system.path, ...more.env } });
  return { ...harness, run, system: system.path, elsewhere: elsewhere.path };
}

const lastModel = ({ requests }: Harness): unknown =>
  (requests().at(-1)?.body as { model?: string } | undefined)?.model;

describe("a profile", () => {
  test("is layered over config.toml", async () => {
    const harness = await openSystemHarness();
    writeFileSync(join(harness.home, "ci.config.toml"), 'model = "from-profile"\n');
    expect((await harness.run(["exec", "-p", "ci", "hi"])).code).toBe(0);
    expect(lastModel(harness)).toBe("from-profile");
    expect((await harness.run(["--profile", "ci", "exec", "-m", "flag", "hi"])).code).toBe(0);
    expect(lastModel(harness)).toBe("flag");
  });

  test("that does not exist ends with exit code 2 and the path", async () => {
    const { run, home, requests } = await openSystemHarness();
    const { code, stderr } = await run(["exec", "--profile", "missing", "hi"]);
    expect(code).toBe(2);
    expect(stderr).toContain(join(home, "missing.config.toml"));
    expect(requests()).toEqual([]);
  });
});

test("the system's configuration is below the user's", async () => {
  const harness = await openSystemHarness();
  writeFileSync(join(harness.system, "config.toml"), 'model = "system"\nmodel_verbosity = "low"\n');
  await harness.run(["exec", "hi"]);
  expect(harness.requests().at(-1)?.body).toMatchObject({ model: "scripted", text: { verbosity: "low" } });
});

test("an unknown key is a warning, and exit code 2 with --strict-config", async () => {
  const { run, home, requests } = await openSystemHarness({ ...hello, config: "retry_bse_ms = 1\n" });
  const warned = await run(["exec", "hi"]);
  expect(warned.code).toBe(0);
  expect(warned.stderr).toContain(
    `warning: ${join(home, "config.toml")}: unknown key model_providers.scripted.retry_bse_ms (did you mean retry_base_ms?)`,
  );
  const refused = await run(["exec", "--strict-config", "hi"]);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain("retry_bse_ms");
  expect(requests()).toHaveLength(1);
});

describe("a project's configuration", () => {
  const files = { "README.md": "# Sample\n", ".agentcli/config.toml": 'model = "local"\n' };

  test("applies once the project is trusted", async () => {
    const harness = await openSystemHarness({ ...hello, files });
    const before = await harness.run(["exec", "hi"]);
    expect(before.stderr).toContain(`warning: ${join(harness.repository, ".agentcli/config.toml")} is not used`);
    expect(lastModel(harness)).toBe("scripted");
    const text = readFileSync(join(harness.home, "config.toml"), "utf8");
    mkdirSync(join(harness.repository, "inner"));
    const trust = await harness.run(["trust", "inner"]);
    expect(trust).toMatchObject({ code: 0, stdout: expect.stringContaining(`Trusted: ${harness.repository} `) });
    const after = readFileSync(join(harness.home, "config.toml"), "utf8");
    expect(after).toBe(`${text}\n[projects."${harness.repository}"]\ntrust_level = "trusted"\n`);
    expect(statSync(join(harness.home, "config.toml")).mode & 0o777).toBe(0o600);
    const trusted = await harness.run(["exec", "hi"], { cwd: join(harness.repository, "inner") });
    expect(trusted.stderr).not.toContain("warning");
    expect(lastModel(harness)).toBe("local");
  });

  test("applies for one run with --trust-project", async () => {
    const harness = await openSystemHarness({ ...hello, files });
    await harness.run(["exec", "--trust-project", "hi"]);
    expect(lastModel(harness)).toBe("local");
    await harness.run(["exec", "hi"]);
    expect(lastModel(harness)).toBe("scripted");
  });
});

describe("requirements", () => {
  const only = (modes: string) => `allowed_sandbox_modes = [${modes}]\n`;

  test.each([
    ["a flag", ["exec", "-s", "danger-full-access", "hi"], "--sandbox:"],
    ["-c", ["exec", "-c", "sandbox_mode=danger-full-access", "hi"], "-c:"],
    ["--yolo", ["exec", "--yolo", "hi"], "--dangerously-bypass-approvals-and-sandbox:"],
  ])("refuse %s with exit code 2, naming file, key and what is allowed", async (_, args, source) => {
    const { run, system, requests } = await openSystemHarness();
    writeFileSync(join(system, "requirements.toml"), only('"read-only", "workspace-write"'));
    const { code, stderr } = await run(args);
    expect(code).toBe(2);
    expect(stderr).toContain(source);
    expect(stderr).toContain(`allowed_sandbox_modes in ${join(system, "requirements.toml")}`);
    expect(stderr).toContain("Allowed: read-only, workspace-write.");
    expect(requests()).toEqual([]);
  });

  test("replace a default that they do not allow, with a warning", async () => {
    const { run, home } = await openSystemHarness();
    writeFileSync(join(home, "requirements.toml"), only('"workspace-write"'));
    const { code, stderr } = await run(["exec", "hi"]);
    expect(code).toBe(0);
    expect(stderr).toContain("warning: sandbox_mode was changed from read-only to workspace-write");
    expect(stderr).toContain("sandbox: workspace-write");
  });

  test("apply to a thread that was allowed more when it started", async () => {
    const { run, home } = await openSystemHarness();
    expect((await run(["exec", "-s", "workspace-write", "hi"])).code).toBe(0);
    writeFileSync(join(home, "requirements.toml"), only('"read-only"'));
    const refused = await run(["exec", "resume", "--last", "again"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain('The resumed thread: sandbox_mode = "workspace-write" is not allowed');
    const narrowed = await run(["exec", "resume", "--last", "-s", "read-only", "again"]);
    expect(narrowed.code).toBe(0);
  });
});

describe("a resumed thread", () => {
  test.each([
    ["keeps its policy under a wider configuration", "read-only", "workspace-write", [], "read-only", "kept"],
    ["is narrowed by a stricter configuration", "workspace-write", "read-only", [], "read-only", "narrowed"],
    ["is widened by a flag", "read-only", "read-only", ["-s", "workspace-write"], "workspace-write", ""],
    ["keeps what it has where nothing is configured", "workspace-write", "", [], "workspace-write", ""],
  ])("%s, with a warning", async (_, first, configured, args, expected, warning) => {
    const { run, home, records } = await openSystemHarness();
    await run(["exec", "-s", first, "hi"]);
    const file = join(home, "config.toml");
    const sandbox = configured ? `sandbox_mode = "${configured}"\n` : "";
    writeFileSync(file, `${sandbox}${readFileSync(file, "utf8")}`);
    const { code, stderr } = await run(["exec", "resume", "--last", ...args, "again"]);
    expect(code).toBe(0);
    expect(stderr).toContain(`sandbox: ${expected}`);
    expect(stderr.includes(`warning: the thread had sandbox_mode = ${first}`)).toBe(warning !== "");
    expect(stderr).toContain(warning);
    expect(records().findLast(({ record }) => record.type === "turn.begun")?.record.settings).toMatchObject({
      sandbox: expected,
    });
  });
});

describe("flags that set the policy", () => {
  test("--yolo warns that nothing is confined, and runs outside a repository", async () => {
    const harness = await openSystemHarness({
      replies: [call("exec_command", { cmd: "echo free > out.txt" }), replyWith("Done.")],
    });
    const { code, stderr } = await harness.run(["exec", "--yolo", "go"], { cwd: harness.elsewhere });
    expect(code).toBe(0);
    expect(stderr).toContain("NO SANDBOX AND NO APPROVALS");
    expect(readFileSync(join(harness.elsewhere, "out.txt"), "utf8")).toBe("free\n");
    const contradiction = await harness.run(["exec", "--yolo", "-s", "read-only", "go"]);
    expect(contradiction).toMatchObject({ code: 2, stderr: expect.stringContaining("contradict") });
  });

  test("--full-auto is workspace-write with a warning", async () => {
    const { run } = await openSystemHarness();
    const { code, stderr } = await run(["exec", "--full-auto", "hi"]);
    expect(code).toBe(0);
    expect(stderr).toContain("warning: --full-auto is deprecated");
    expect(stderr).toContain("sandbox: workspace-write");
  });

  test("--add-dir adds a writable directory, relative to the user's directory", async () => {
    const other = await temporaryDirectory({ "cache/old.txt": "" });
    onTestFinished(other.remove);
    const written = join(other.path, "cache/out.txt");
    const { run, repository } = await openSystemHarness({
      replies: [
        call("exec_command", { cmd: `echo here > ${written}` }),
        replyWith("Done."),
        replyWith("No."),
        replyWith("Still here."),
      ],
    });
    const args = ["exec", "-s", "workspace-write", "-C", repository, "--add-dir", "cache", "go"];
    expect((await run(args, { cwd: other.path })).code).toBe(0);
    expect(readFileSync(written, "utf8")).toBe("here\n");
    const idle = await run(["exec", "--add-dir", other.path, "hi"]);
    expect(idle.stderr).toContain("warning: --add-dir changes nothing in read-only");
    const missing = await run(["exec", "-s", "workspace-write", "--add-dir", "missing", "hi"]);
    expect(missing).toMatchObject({ code: 0, stdout: "Still here.\n" });
    expect(missing.stderr).toContain(`warning: --add-dir: the directory ${join(repository, "missing")} does not exist`);
  });

  test("-a on-request is in the prompt and recorded, and nothing is asked", async () => {
    const escalation = { cmd: "id", sandbox_permissions: "require_escalated", justification: "please" };
    const harness = await openHarness({ replies: [call("exec_command", escalation), replyWith("Could not.")] });
    const { code, events } = await harness.events(["-a", "on-request", "go"]);
    expect(code).toBe(0);
    expect(JSON.stringify(harness.requests()[0]?.body)).toContain("sandbox_permissions require_escalated");
    expect(harness.records()[0]?.record).toMatchObject({ settings: { approval: "on-request" } });
    expect(itemsOf(events, "command_execution")).toMatchObject([{ status: "declined" }]);
    expect(toolOutputs(harness.requests()[1])[0]).toContain("no user is present to give one");
  });
});

describe("--limit", () => {
  test("wins over [limits], and the limit is named at the end", async () => {
    const wait = call("exec_command", { cmd: "sleep 1000", yield_time_ms: 30_000 });
    const harness = await openHarness({ replies: [wait, replyWith("Done.")], config: '[limits]\nwall = "1h"\n' });
    const { code, events } = await harness.events(["--limit", "idle=30s,wall=1s", "go"]);
    expect(code).toBe(6);
    expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "limit", limit: "wall" } });
  });

  test.each([
    [["--limit", "ilde=3s"], "Did you mean idle?"],
    [["--limit", "whatever=3s"], "stdin, first-byte, idle, tool"],
    [["--limit", "idle=soon"], "500ms, 30s, 10m, 1h, or off"],
    [["--limit", "idle"], "there is no limit"],
    [["--on-limit", "cry"], "choose one of wait, stop"],
  ])("%j is refused", async (args, hint) => {
    const { run } = await openSystemHarness();
    expect(await run(["exec", ...args, "hi"])).toMatchObject({ code: 2, stderr: expect.stringContaining(hint) });
  });
});

describe("doctor", () => {
  test("finds no problem where a run would start, and does not print the key", async () => {
    const { run, repository } = await openSystemHarness();
    const env = { MY_KEY: "s3cret-value" };
    const args = ["doctor", "-c", "model_providers.scripted.env_key=MY_KEY"];
    const { code, stdout } = await run(args, { env });
    expect(code).toBe(0);
    for (const found of [repository, "from environment variable MY_KEY", "read-only (bubblewrap", "would start"])
      expect(stdout).toContain(found);
    expect(stdout).not.toContain("s3cret-value");
  });

  test("lists skills, commands and agents, those of other tools too, and why some are not used", async () => {
    const { run, repository } = await openSystemHarness();
    const write = (path: string, text: string) => {
      mkdirSync(join(repository, path, ".."), { recursive: true });
      writeFileSync(join(repository, path), text);
    };
    const skill = (name: string) => `---\nname: ${name}\ndescription: About ${name}.\n---\nDo it.\n`;
    write(".agents/skills/own/SKILL.md", skill("own"));
    write(".claude/skills/own/SKILL.md", skill("own"));
    write(".claude/skills/off/SKILL.md", skill("off"));
    write(".codex/skills/broken/SKILL.md", "text\n");
    write(".claude/commands/fix.md", "Fix $1.\n");
    write(".claude/agents/critic.md", `${skill("critic").replace("description", "model: opus\ndescription")}`);
    const off = ["-c", 'skills.config=[{name="off",enabled=false}]'];
    const { code, stdout } = await run(["doctor", ...off]);
    expect(code).toBe(0);
    for (const line of [
      /^ok {4}skills +own$/m,
      /^ok {4}commands +\/fix$/m,
      /^ok {4}agents +critic$/m,
      /^warn {2}skills .*\.claude\/skills\/own\/SKILL\.md: not used: .*\.agents\/skills\/own/m,
      /^warn {2}skills .*off\/SKILL\.md: not used: off is switched off in skills\.config$/m,
      /^warn {2}skills .*\.codex\/skills\/broken\/SKILL\.md:1: it does not begin with front matter/m,
      /^warn {2}agents .*critic\.md: model opus is ignored/m,
    ])
      expect(stdout).toMatch(line);
    const { stdout: without } = await run(["doctor", "-c", "compatible_folders=false"]);
    expect(without).toMatch(/^warn {2}other tools {4}not read: .*\.codex\/skills, .*\.claude\/agents$/m);
    expect(without).not.toContain("critic");
  });

  test.each([
    ["a missing key", ["-c", "model_provider=openai"], "credential"],
    ["an unknown provider", ["-c", "model_provider=nowhere"], "provider"],
    ["a broken value", ["-c", "sandbox_mode=maybe"], "configuration"],
    ["a missing directory", ["-C", "missing"], "configuration"],
  ])("%s ends with exit code 1 and how to fix it", async (_, args, name) => {
    const { run } = await openSystemHarness();
    const { code, stdout } = await run(["doctor", "--json", ...args]);
    expect(code).toBe(1);
    const { ok, findings } = JSON.parse(stdout);
    expect(ok).toBe(false);
    expect(findings).toContainEqual({ name, status: "fail", detail: expect.any(String), mend: expect.any(String) });
  });

  test("a directory outside any repository is a problem; without bubblewrap the next back end is named", async () => {
    const { run, elsewhere } = await openSystemHarness();
    const { code, stdout } = await run(["doctor"], { cwd: elsewhere, env: { PATH: elsewhere } });
    expect(code).toBe(1);
    expect(stdout).toMatch(/fail {2}repository .*\n +to fix: run git init, or use --skip-git-repo-check/);
    expect(stdout).toMatch(/ok {4}sandbox +read-only \(landlock/);
    expect(stdout).toMatch(/warn {2}git +not found/);
  });
});

test("config show prints effective values and their origins", async () => {
  const { run, home } = await openSystemHarness();
  const { code, stdout } = await run(["config", "show", "--origin", "-s", "workspace-write"]);
  expect(code).toBe(0);
  expect(stdout).toContain(`model = "scripted"  # ${join(home, "config.toml")}\n`);
  expect(stdout).toContain('sandbox_mode = "workspace-write"  # --sandbox\n');
  const { stdout: json } = await run(["config", "show", "--json"]);
  expect(JSON.parse(json)).toContainEqual({
    key: "model",
    value: "scripted",
    origin: { kind: "user", path: join(home, "config.toml") },
  });
});

test("exit-codes prints the table", async () => {
  const { run } = await openSystemHarness();
  const { stdout } = await run(["exit-codes"]);
  expect(stdout).toMatch(/^ {2}0 {2}the turn completed\n/);
  expect(stdout).toContain("143  SIGTERM\n");
});

describe("completion", () => {
  /** Completions by bash itself; the last word is unfinished. */
  async function completed(words: string[]): Promise<string[]> {
    const { run, elsewhere } = await openSystemHarness();
    const script = join(elsewhere, "completion.bash");
    writeFileSync(script, (await run(["completion", "bash"])).stdout);
    const ask = `source ${script}; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _agentcli; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const options = { cwd: elsewhere, encoding: "utf8" } as const;
    return execFileSync("bash", ["--norc", "-uc", ask, "bash", ...words], options)
      .trim()
      .split("\n");
  }

  test.each([
    [["agentcli", "exec", "--mo"], ["--model"]],
    [
      ["agentcli", "ex"],
      ["exit-codes", "exec", "execpolicy"],
    ],
    [["agentcli", "exec", "-m", "exec", "res"], ["resume"]],
    [["agentcli", "e", "resume", "--la"], ["--last"]],
    [["agentcli", "exec", "--sandbox", "w"], ["workspace-write"]],
    [
      ["agentcli", "config", ""],
      ["show", "--help"],
    ],
    [["agentcli", "exec", "--cd", "comp"], [""]],
    [["agentcli", "exec", "-o", "comp"], ["completion.bash"]],
  ])("bash completes %j to %j", async (words, expected) => {
    expect(await completed(words)).toEqual(expected);
  });

  test("zsh and fish scripts name every flag of exec; another shell is refused", async () => {
    const { run } = await openSystemHarness();
    const help = (await run(["help", "exec"])).stdout;
    const flags = [...help.matchAll(/^ {2}(?:-\w, | {4})--([a-z-]+)/gm)].map(([, name]) => name);
    const zsh = (await run(["completion", "zsh"])).stdout;
    const fish = (await run(["completion", "fish"])).stdout;
    for (const flag of flags) {
      expect(zsh).toContain(`'--${flag}:`);
      expect(fish).toContain(` -l ${flag} `);
    }
    expect(await run(["completion", "csh"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("bash, zsh, fish"),
    });
  });
});

test("an incomplete command lists its subcommands", async () => {
  const { run } = await openSystemHarness();
  expect(await run(["config"])).toMatchObject({ code: 2, stderr: expect.stringMatching(/config show +Print the/) });
  const help = await run(["mcp", "--help"]);
  expect(help).toMatchObject({ code: 0, stdout: (await run(["mcp"])).stderr });
});

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
