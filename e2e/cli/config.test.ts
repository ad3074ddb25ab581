import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { type Harness, itemsOf, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { describe, expect, onTestFinished, test } from "vitest";
import { hello, openSystemHarness } from "./system-harness.ts";

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
