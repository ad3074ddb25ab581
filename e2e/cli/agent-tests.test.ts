import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { type Harness, openHarness } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";
import { agentcliHooks } from "./hook-harness.ts";

const sample = join(import.meta.dirname, "../../examples/sample");

/** A repository with the files of the sample. */
async function openSample(): Promise<Harness> {
  const harness = await openHarness();
  cpSync(sample, harness.repository, { recursive: true });
  return harness;
}

const behaviour = [".agentcli/tests/hooks.yaml", ".agentcli/tests/project.yaml"];

type Change = (text: string) => string | null;
const replaced =
  (from: string, to: string): Change =>
  (text) => {
    expect(text).toContain(from);
    return text.replace(from, to);
  };
const removed: Change = () => null;

const hook = ".agentcli/hooks/protect-migrations.mjs";
const hooks = ".agentcli/hooks.json";
const rules = ".agentcli/rules/default.rules";
const skill = ".agents/skills/release-notes/SKILL.md";
const agent = ".agentcli/agents/reviewer.toml";

/** What is changed, and the case that has to notice it. */
const mutations: [path: string, change: Change, failing: string][] = [
  [hook, replaced("process.exit(2)", "process.exit(0)"), "are refused"],
  [hook, replaced("never changed once they exist", "fine"), "are refused"],
  [hook, replaced("if (writes())", "if (!writes())"), "are refused"],
  [hook, replaced("Update|Delete", "Delete"), "are refused"],
  [hook, replaced("[writingProgram, writingMode, redirection]", "[writingProgram, writingMode]"), "are refused"],
  [hook, replaced("mentionsMigrations.test(command) && ", ""), "migrations are read"],
  [hook, replaced(".*\\bmigrations\\/", ""), "migrations are read"],
  [hook, removed, "are refused"],
  [hooks, replaced("PreToolUse", "PostToolUse"), "are refused"],
  [hooks, replaced("Bash|apply_patch|", "Bash|"), "are refused"],
  [hooks, replaced("Bash|apply_patch|", "apply_patch|"), "are refused"],
  [hooks, removed, "are refused"],
  [rules, replaced('decision = "forbidden"', 'decision = "allow"'), "neither push nor publish"],
  [rules, replaced('decision = "prompt"', 'decision = "allow"'), "neither push nor publish"],
  [rules, replaced("through a pull request", "tomorrow"), "neither push nor publish"],
  [rules, replaced('["publish", "unpublish"]', '["unpublish"]'), "neither push nor publish"],
  [rules, removed, "neither push nor publish"],
  [skill, replaced("name: release-notes", "name: notes"), "written by the skill"],
  [skill, replaced("prepare the notes of a release", "write anything"), "written by the skill"],
  [skill, replaced("stop and say what failed", "go on"), "written by the skill"],
  [skill, removed, "written by the skill"],
  [agent, replaced('name = "reviewer"', 'name = "critic"'), "changes nothing"],
  [agent, replaced("breaks the rules of AGENTS.md", "is odd"), "changes nothing"],
  [agent, replaced("Pages are counted from 1", "Be brief"), "changes nothing"],
  [agent, replaced('"grep_files"', '"apply_patch"'), "changes nothing"],
  [agent, replaced('sandbox_mode = "read-only"', ""), "changes nothing"],
  [agent, removed, "changes nothing"],
  ["AGENTS.md", replaced("Run the tests with", "Skip"), "rules of this repository"],
];

function mutate(root: string, path: string, change: Change): () => void {
  const file = join(root, path);
  const before = readFileSync(file, "utf8");
  const after = change(before);
  if (after === null) rmSync(file);
  else writeFileSync(file, after);
  return () => writeFileSync(file, before);
}

describe("the tests of the sample", () => {
  test("pass without a model, a key and trusted hooks", async () => {
    const harness = await openSample();
    const { code, stdout, stderr } = await harness.run(["test"]);
    expect({ code, stderr, stdout }).toMatchObject({ code: 0, stderr: "" });
    expect(stdout).toMatch(/7 passed in/);
    expect(harness.requests()).toEqual([]);
  });

  test.each(["hooks", "rules", "skills", "agents", "AGENTS.md"])("fail for every change in %s", async (kind) => {
    const harness = await openSample();
    const rows = mutations.filter(([path]) => path.includes(kind));
    expect(rows).not.toEqual([]);
    for (const [path, change, failing] of rows) {
      const restore = mutate(harness.repository, path, change);
      const { code, stdout } = await harness.run(["test", ...behaviour, "--filter", failing]);
      restore();
      expect({ path, code, stdout }).toMatchObject({
        code: 1,
        stdout: expect.stringMatching(new RegExp(`FAIL  .*${failing}`)),
      });
    }
  });

  test("fail for a change that only a reviewer would notice, and name the new hash", async () => {
    const harness = await openSample();
    for (const path of [hook, hooks, rules, skill, agent, "AGENTS.md"]) {
      const restore = mutate(harness.repository, path, (text) => `${text}\n`);
      const { code, stdout } = await harness.run(["test", "--filter", "were reviewed"]);
      restore();
      expect(code).toBe(1);
      expect(stdout).toMatch(new RegExp(`reviewed.yaml:\\d+: file .*${path} has .*\\(sha256:[0-9a-f]{64}\\)`));
    }
  });
});

/** A repository with one test file and these other files. */
const withTests = (cases: string, files: Record<string, string> = {}) =>
  openHarness({ files: { ".agentcli/tests/a.yaml": cases, ...files } });

const pushing = `cases:
  - name: pushing & publishing
    prompt: publish
    sandbox: workspace-write
    files: { notes.txt: old }
    model:
      - run: echo new > notes.txt; echo more > more.txt
      - message: Done.
    expect:
`;

describe("an expectation that does not hold", () => {
  test.each([
    ["exit: 3", "exit 3: the exit code is 0"],
    ["message: pushed", 'message pushed: it is "Done."'],
    ["error: /./", "error /./: nothing failed"],
    ["instructions: be kind", "instructions be kind: it is"],
    ["hook_refused: no", "hook_refused no: there was none"],
    ["rule_matched: git", "rule_matched git: there was none"],
    ["skill_loaded: x", "skill_loaded x: there was none"],
    ["agent_started: worker", "agent_started worker: there was none"],
    ["tool_denied: exec_command", "tool_denied exec_command: there was none"],
    ["tool_called: { tool: exec_command, status: failed }", 'there was tool "exec_command", input'],
    ["files_touched: [notes.txt, src/**]", "touched: more.txt"],
    ["file: { notes.txt: old }", 'file {"notes.txt":"old"}: notes.txt has "new"'],
    ["file: { more.txt: false }", 'more.txt has "more"'],
    ["budget: { requests: 1 }", "spent: requests 2 of 1"],
  ])("%s is explained", async (expected, explanation) => {
    const harness = await withTests(`${pushing}      ${expected}\n`);
    const { code, stdout } = await harness.run(["test"]);
    expect(stdout).toContain(".agentcli/tests/a.yaml:10: ");
    expect(stdout).toContain(explanation);
    expect(code).toBe(1);
  });

  test("is one that holds where it is meant not to", async () => {
    const harness = await withTests(
      `${pushing}      exit: 0\n    not:\n      files_touched: "*.txt"\n      tool_called: exec_command\n`,
    );
    const { code, stdout } = await harness.run(["test"]);
    expect(code).toBe(1);
    expect(stdout).toContain("a.yaml:12: not files_touched *.txt: touched: more.txt, notes.txt");
    expect(stdout).toContain("a.yaml:13: not tool_called exec_command: there was");
  });
});

describe("agentcli test", () => {
  test("fails a case whose script does not fit the run", async () => {
    const cases = `cases:
  - name: too short
    prompt: go
    model: [{ run: ls }]
    expect: { tool_called: exec_command }
  - name: too long
    prompt: go
    model: [{ message: Done. }, { message: Never asked. }]
    expect: { exit: 0 }
`;
    const { stdout, code } = await (await withTests(cases)).run(["test"]);
    expect(code).toBe(1);
    expect(stdout).toContain("2 failed");
    expect(stdout).toContain("model has no reply left");
    expect(stdout).toContain("the model was not asked for the reply in line 8");
  });

  test("runs hooks of the project inside the sandbox, and outside only where the user trusts them", async () => {
    const harness = await openHarness();
    const outside = join(harness.home, "outside.txt");
    const files = {
      ".agentcli/hooks.json": agentcliHooks({
        PreToolUse: [{ command: `echo reached > ${outside}; echo no >&2; exit 2` }],
      }),
      ".agentcli/tests/a.yaml": `${pushing}      hook_ran: { event: PreToolUse, status: blocked }\n`,
    };
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(harness.repository, path)), { recursive: true });
      writeFileSync(join(harness.repository, path), text);
    }
    expect(await harness.run(["test"])).toMatchObject({ code: 0 });
    expect(existsSync(outside)).toBe(false);
    expect(await harness.run(["test", "--dangerously-bypass-hook-trust"])).toMatchObject({ code: 0 });
    expect(existsSync(outside)).toBe(true);
  });

  test("changes nothing in the project, and sees nothing of the user", async () => {
    const harness = await withTests(`${pushing}      exit: 0\n    not: { instructions: of the user }\n`);
    writeFileSync(join(harness.home, "AGENTS.md"), "Instructions of the user.\n");
    const { code, stdout } = await harness.run(["test"]);
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(existsSync(join(harness.repository, "more.txt"))).toBe(false);
    expect(await harness.git("status", "--porcelain")).toBe("");
  });

  test("uses the configuration of the project only where it is trusted", async () => {
    const cases = `cases:
  - name: configured
    prompt: go
    model: [{ message: Done. }]
    expect: { instructions: Always be kind. }
`;
    const config = 'developer_instructions = "Always be kind."\n';
    const harness = await withTests(cases, { ".agentcli/config.toml": config });
    expect(await harness.run(["test"])).toMatchObject({ code: 1 });
    expect(await harness.run(["test", "--trust-project"])).toMatchObject({ code: 0 });
  });

  test("takes replies from a recording", async () => {
    const harness = await openHarness({
      replies: [call("exec_command", { cmd: "echo made > made.txt" }), replyWith("The file is made.")],
      files: {
        ".agentcli/tests/a.yaml": `cases:
  - name: recorded
    cassette: run.jsonl
    sandbox: workspace-write
    expect: { file: { made.txt: made }, message: is made }
`,
      },
    });
    const file = join(harness.repository, ".agentcli/tests/run.jsonl");
    await harness.run(["exec", "-s", "workspace-write", "--record", file, "make a file"]);
    const asked = harness.requests().length;
    const { code, stdout } = await harness.run(["test"]);
    expect({ code, stdout }).toMatchObject({ code: 0 });
    expect(harness.requests()).toHaveLength(asked);
    rmSync(file);
    const missing = await harness.run(["test"]);
    expect(missing).toMatchObject({ code: 1, stdout: expect.stringContaining("cannot be read") });
  });

  test("prints TAP and writes JUnit XML, and says what is wrong in a file", async () => {
    const bad = "cases:\n  - name: bad\n    prompt: go\n    expects: 1\n";
    const harness = await withTests(`${pushing}      exit: 3\n`, { ".agentcli/tests/b.yaml": bad });
    const { code, stdout } = await harness.run(["test", "--tap", "--junit", "report.xml"]);
    expect(code).toBe(2);
    expect(stdout.split("\n")).toEqual([
      "TAP version 14",
      "1..2",
      "not ok 1 - .agentcli/tests/a.yaml: pushing & publishing",
      "  ---",
      "  failures:",
      '    - "line 10: exit 3: the exit code is 0"',
      "  ...",
      "not ok 2 - .agentcli/tests/b.yaml:4",
      "  ---",
      "  failures:",
      '    - "a case cannot have \\"expects\\". Did you mean expect?"',
      "  ...",
      "",
    ]);
    const xml = readFileSync(join(harness.repository, "report.xml"), "utf8");
    expect(xml).toMatch(
      /<testsuites name="agentcli test" tests="2" failures="1" errors="1" skipped="0" time="[\d.]+">/,
    );
    expect(xml).toContain(
      '<testcase name="pushing &amp; publishing" classname="a" file=".agentcli/tests/a.yaml" line="2"',
    );
    expect(xml).toContain('<failure message="exit 3: the exit code is 0">');
    expect(xml).toContain('<error message="a case cannot have &quot;expects&quot;. Did you mean expect?"/>');
    const none = await harness.run(["test", "nowhere.yaml"]);
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("nowhere.yaml does not exist") });
  });

  test("with --watch runs again when a file of the project changes", async () => {
    const harness = await withTests(`${pushing}      exit: 3\n`);
    const child = harness.start(["test", "--watch"]);
    let output = "";
    child.stdout?.on("data", (chunk) => {
      output += chunk;
    });
    const ended = new Promise((resolve) => child.on("close", resolve));
    await expect.poll(() => output).toMatch(/1 failed[\s\S]*Waiting for changes/);
    output = "";
    writeFileSync(join(harness.repository, ".agentcli/tests/a.yaml"), `${pushing}      exit: 0\n`);
    await expect.poll(() => output).toMatch(/1 passed[\s\S]*Waiting for changes/);
    child.kill("SIGINT");
    expect(await ended).toBe(130);
  });
});
