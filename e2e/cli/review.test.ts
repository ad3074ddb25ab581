import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith, waitForExit } from "@agentcli/testkit";
import { type Harness, type HarnessOptions, itemsOf, openHarness } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";

const answer = {
  findings: [
    {
      title: "Divides by zero",
      body: "An empty list has no mean.",
      confidence_score: 0.9,
      priority: 1,
      code_location: { absolute_file_path: "/x/a.py", line_range: { start: 1, end: 2 } },
    },
  ],
  overall_correctness: "patch is incorrect",
  overall_explanation: "One path breaks.",
  overall_confidence_score: 0.8,
};
const text =
  "One path breaks.\n\nReview comment:\n\n- [P1] Divides by zero — /x/a.py:1-2\n  An empty list has no mean.";
const found = replyWith(JSON.stringify(answer), { usage: { inputTokens: 500, outputTokens: 40 } });

/** A repository with a change that is not committed. */
async function openChangedHarness(options: HarnessOptions = { replies: [found] }): Promise<Harness> {
  const harness = await openHarness({ files: { "mean.py": "def mean(x):\n    pass\n" }, ...options });
  writeFileSync(join(harness.repository, "mean.py"), "def mean(x):\n    return sum(x) / len(x)\n");
  writeFileSync(join(harness.repository, "new.py"), "import mean\n");
  return harness;
}

interface Body {
  model: string;
  input: { role: string; content: { text: string }[] }[];
  tools: { name: string }[];
  text: { format?: { schema: { properties: object } } };
}
const bodyOf = (request: { body: unknown } | undefined) => request?.body as Body;
const textsOf = (request: { body: unknown } | undefined): string[] =>
  bodyOf(request).input.flatMap(({ content }) => (content ?? []).map((part) => part.text));
const changeIn = (request: { body: unknown } | undefined): string =>
  textsOf(request).find((part) => part.startsWith("<change_under_review>")) ?? "";

describe("agentcli review", () => {
  test("prints the findings as text and asks with rubric, change and schema", async () => {
    const { run, requests } = await openChangedHarness();
    const { code, stdout, stderr } = await run(["review", "--uncommitted", "mind the edge cases"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${text}\n` });
    expect(stderr).toContain("sandbox: read-only");
    expect(stderr).toMatch(/^Collecting the change …\nThe change: 2 files, 3 changed lines\.\n/);
    const [request] = requests();
    expect(changeIn(request)).toContain("+    return sum(x) / len(x)");
    expect(changeIn(request)).toContain("+++ b/new.py");
    expect(textsOf(request).at(-1)).toBe(
      "Review the current code changes (staged, unstaged, and untracked files) and provide prioritized findings.\n\nInstructions for this review:\nmind the edge cases",
    );
    expect(textsOf(request).join("\n")).toContain("What counts as a finding");
    expect(Object.keys(bodyOf(request).text.format?.schema.properties ?? {})).toContain("findings");
    expect(
      bodyOf(request)
        .tools.map(({ name }) => name)
        .filter((name) => /agent|send_input/.test(name)),
    ).toEqual([]);
  });

  test("is also exec review, and shows the text and its usage as events", async () => {
    const { events: run } = await openChangedHarness();
    const { code, events } = await run(["review", "--uncommitted"]);
    expect(code).toBe(0);
    expect(itemsOf(events, "agent_message")).toMatchObject([{ text }]);
    expect(events.at(-1)).toMatchObject({ type: "turn.completed", usage: { input_tokens: 500, output_tokens: 40 } });
  });

  test("-o writes text or, to a .json file, the findings", async () => {
    const { run, repository } = await openChangedHarness({ replies: [found, found] });
    await run(["review", "--uncommitted", "-o", "review.txt"]);
    expect(readFileSync(join(repository, "review.txt"), "utf8")).toBe(text);
    await run(["review", "--uncommitted", "-o", "review.json"]);
    expect(JSON.parse(readFileSync(join(repository, "review.json"), "utf8"))).toEqual({ ...answer, coverage: null });
  });

  test("may read, and cannot write whatever is configured", async () => {
    const replies = [call("exec_command", { cmd: "cat mean.py; echo bad > mean.py" }), found];
    const { run, repository, requests } = await openChangedHarness({ replies });
    const before = readFileSync(join(repository, "mean.py"), "utf8");
    const ended = await run([
      "review",
      "-s",
      "danger-full-access",
      "-c",
      "sandbox_mode=workspace-write",
      "--uncommitted",
    ]);
    expect(ended).toMatchObject({ code: 0, stdout: `${text}\n` });
    expect(ended.stderr).toContain("always read-only");
    expect(JSON.stringify(requests()[1]?.body)).toContain("Read-only file system");
    expect(readFileSync(join(repository, "mean.py"), "utf8")).toBe(before);
  });

  test("asks the model configured for reviews, unless the command line names one", async () => {
    const { run, requests } = await openChangedHarness({ replies: { replies: [found], repeat: "last" } });
    const reviewer = ["-c", "review_model=reviewer", "--uncommitted"];
    await run(["review", ...reviewer]);
    await run(["review", "-m", "other", ...reviewer]);
    await run(["exec", "-c", "review_model=reviewer", "hello"]);
    expect(requests().map((request) => bodyOf(request).model)).toEqual(["reviewer", "other", "scripted"]);
  });

  test("prints a reply that is not JSON as it is", async () => {
    const { run } = await openChangedHarness({ replies: [replyWith("Looks good to me.")] });
    expect(await run(["review", "--uncommitted"])).toMatchObject({ code: 0, stdout: "Looks good to me.\n" });
  });

  test("accepts a schema of the user, repairs once, and prints the model's JSON", async () => {
    const { run, events, repository, requests } = await openChangedHarness({
      replies: [replyWith("{}"), replyWith('{"ok":true}'), replyWith("{}"), replyWith("{}")],
    });
    const schema = { type: "object", properties: { ok: { type: "boolean" } }, required: ["ok"] };
    writeFileSync(join(repository, "schema.json"), JSON.stringify(schema));
    writeFileSync(join(repository, "logo.png"), Buffer.from([0x89, 0x50, 0, 1, 2]));
    const flags = ["--uncommitted", "--output-schema", "schema.json"];
    expect(await run(["review", ...flags, "-o", "out.json"])).toMatchObject({ code: 0, stdout: '{"ok":true}\n' });
    expect(readFileSync(join(repository, "out.json"), "utf8")).toBe('{"ok":true}');
    expect(Object.keys(bodyOf(requests()[0]).text.format?.schema.properties ?? {})).toEqual(["ok"]);
    const failed = await events(["review", ...flags]);
    expect(failed.code).toBe(10);
    expect(itemsOf(failed.events, "error")[0]?.message).toContain("not reviewed: logo.png (binary)");
    expect(failed.events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "schema" } });
  });

  test("of nothing prints a message, makes no request and succeeds", async () => {
    const { run, events, requests, repository } = await openHarness({ replies: [] });
    const nothing = "Nothing to review: there are no staged, unstaged or untracked changes.";
    expect(await run(["review", "--uncommitted"])).toMatchObject({ code: 0, stdout: `${nothing}\n` });
    const json = await events(["review", "--uncommitted"]);
    expect(json.code).toBe(0);
    expect(json.events.map(({ type }) => type)).toEqual([
      "thread.started",
      "turn.started",
      "item.completed",
      "turn.completed",
    ]);
    expect(itemsOf(json.events, "agent_message")).toMatchObject([{ text: nothing }]);
    expect(json.events.at(-1)).toMatchObject({ usage: { input_tokens: 0, output_tokens: 0 } });
    expect((await run(["review", "--base", "main", "-o", "out.json"])).stdout).toContain("adds nothing to main");
    expect(JSON.parse(readFileSync(join(repository, "out.json"), "utf8"))).toMatchObject({ findings: [] });
    expect(requests()).toHaveLength(0);
  });

  test("of nothing with a schema of the user is answered by the model in that schema", async () => {
    const { run, repository, requests, git } = await openHarness({ replies: [replyWith('{"ok":true}')] });
    writeFileSync(
      join(repository, "schema.json"),
      '{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}',
    );
    await git("add", "-A");
    await git("commit", "-m", "schema");
    const flags = ["--uncommitted", "--output-schema", "schema.json"];
    expect(await run(["review", ...flags])).toMatchObject({ code: 0, stdout: '{"ok":true}\n' });
    expect(JSON.stringify(requests()[0]?.body)).toContain("There is nothing to review: there are no staged");
  });

  test("by the practice model claims no verdict", async () => {
    const { run, repository } = await openChangedHarness();
    const { code, stdout } = await run(["review", "--uncommitted", "-m", "practice", "-o", "out.json"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining("this change was not reviewed") });
    expect(JSON.parse(readFileSync(join(repository, "out.json"), "utf8"))).toMatchObject({
      findings: [],
      overall_correctness: null,
      overall_confidence_score: null,
    });
  });

  test("whose budget is spent ends with the findings so far", async () => {
    const replies = [
      { ...replyWith("I had seen half of it."), when: { bodyIncludes: "budget of this run is spent" } },
      call("exec_command", { cmd: "true" }),
    ];
    const { events: run } = await openChangedHarness({ replies: { replies, repeat: "always" } });
    const { code, events } = await run(["review", "--uncommitted", "--budget", "turns=3"]);
    expect(code).toBe(5);
    expect(itemsOf(events, "agent_message")).toMatchObject([{ text: "I had seen half of it." }]);
    expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "budget" } });
  });

  test("is an ordinary thread that can be asked about its findings", async () => {
    const { run, requests } = await openChangedHarness({ replies: [found, replyWith("Because of len.")] });
    await run(["review", "--uncommitted"]);
    expect(await run(["exec", "resume", "--last", "why?"])).toMatchObject({ code: 0, stdout: "Because of len.\n" });
    expect(JSON.stringify(requests()[1]?.body)).toContain("Divides by zero");
    expect(bodyOf(requests()[1]).text.format).toBeUndefined();
  });

  test("that was killed resumes as a review", async () => {
    const { start, run, requests } = await openChangedHarness({
      replies: [{ messages: ["x"], stall: "before-headers" }, found],
    });
    const child = start(["review", "--uncommitted"]);
    const closed = waitForExit(child);
    await expect.poll(() => requests().length).toBe(1);
    child.kill("SIGKILL");
    await closed;
    expect(await run(["exec", "resume", "--last"])).toMatchObject({ code: 0, stdout: `${text}\n` });
    expect(bodyOf(requests()[1]).text.format).toBeDefined();
  });
});

describe("what is reviewed", () => {
  test("is a branch against its base, with renames, binaries and a merge", async () => {
    const { git, run, requests, repository } = await openHarness({
      replies: [found, found],
      files: { "a.py": "1\n2\n3\n4\n5\n", "b.py": "b\n" },
    });
    await git("checkout", "--quiet", "-b", "feature");
    await git("mv", "a.py", "renamed.py");
    writeFileSync(join(repository, "logo.png"), Buffer.from([0x89, 0x50, 0, 1, 2]));
    await git("add", "--all");
    await git("commit", "--quiet", "--message=Move it");
    await git("checkout", "--quiet", "main");
    writeFileSync(join(repository, "c.py"), "c\n");
    await git("add", "--all");
    await git("commit", "--quiet", "--message=Meanwhile");
    await git("checkout", "--quiet", "feature");
    await git("merge", "--quiet", "--no-edit", "main");
    const { code, stdout } = await run(["review", "--base", "main"]);
    expect(code).toBe(0);
    expect(stdout).toBe(`${text}\n\nCoverage: 1 of 2 files, 100 % of changed lines; not reviewed: logo.png (binary)\n`);
    expect(changeIn(requests()[0])).toContain("rename from a.py\nrename to renamed.py");
    expect(changeIn(requests()[0])).not.toContain("c.py");
    expect(textsOf(requests()[0]).at(-1)).toMatch(/against the base branch "main" \(merge base [0-9a-f]{40}\)/);
    await run(["review", "--commit", "HEAD", "--title", "Take over main"]);
    expect(changeIn(requests()[1])).toContain("+++ b/c.py");
    expect(textsOf(requests()[1]).at(-1)).toMatch(/commit [0-9a-f]{40} \("Take over main"\)/);
  });

  test("is what the instructions name, from the argument or standard input", async () => {
    const { run, requests } = await openHarness({ replies: { replies: [found], repeat: "last" } });
    expect(await run(["review", "check src/"])).toMatchObject({ code: 0, stdout: `${text}\n` });
    expect(await run(["review", "-"], { stdin: "check lib/\n" })).toMatchObject({ code: 0 });
    expect(await run(["review"], { stdin: "check all/\n" })).toMatchObject({ code: 0 });
    expect(requests().map((request) => textsOf(request).at(-1))).toEqual(["check src/", "check lib/", "check all/"]);
    expect(changeIn(requests()[0])).toBe("");
  });

  test("must be one thing that exists", async () => {
    const { run, requests } = await openHarness();
    const errorOf = async (...args: string[]) => {
      const { code, stderr, stdout } = await run(["review", ...args]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      return stderr;
    };
    expect(await errorOf()).toContain("What is to be reviewed?");
    expect(await errorOf("--uncommitted", "--base", "main")).toContain(
      "--uncommitted and --base cannot be reviewed at once",
    );
    expect(await errorOf("--title", "x", "--uncommitted")).toContain("--title can only be used with --commit");
    expect(await errorOf("--base", "mian")).toContain(
      'There is no branch "mian" in this repository. Did you mean main?',
    );
    expect(await errorOf("--commit", "0123abcd")).toContain('There is no commit "0123abcd"');
    expect(requests()).toHaveLength(0);
  });

  test("of 50,000 lines fits the context window, with a note about what was left out", async () => {
    const contextWindow = 40_000;
    const harness = await openHarness({ replies: [found], files: { "README.md": "# Large\n" } });
    const lines = (count: number, word: string) =>
      Array.from({ length: count }, (_, index) => `const ${word}${index} = compute(${index}, "${word}");`).join("\n");
    for (let file = 0; file < 40; file += 1)
      writeFileSync(join(harness.repository, `f${file}.ts`), lines(750, `v${file}_`));
    writeFileSync(join(harness.repository, "huge.ts"), lines(15_000, "huge"));
    writeFileSync(join(harness.repository, "package-lock.json"), lines(5_000, "lock"));
    const { code, stdout } = await harness.run([
      "review",
      "--uncommitted",
      "-c",
      `model_context_window=${contextWindow}`,
    ]);
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /\nCoverage: \d of 42 files, \d % of changed lines; partly reviewed: f\d+\.ts \(\d+ of 750 lines\); not reviewed: .* and \d+ more\n$/,
    );
    const [request] = harness.requests();
    const bytes = Buffer.byteLength(JSON.stringify(request?.body));
    expect(bytes / 4).toBeLessThan(contextWindow * 0.75);
    expect(bytes / 4).toBeGreaterThan(contextWindow * 0.4);
    expect(changeIn(request)).toContain("Not all of it fits here. Coverage:");
    expect(changeIn(request)).not.toContain("b/package-lock.json");
  });
});
