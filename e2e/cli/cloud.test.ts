// agentcli as a client of the platform: creates agents, inspects them, applies their changes.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { openForFile, openPlatform } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";
import { openCloudHarness, type SharedPlatform } from "../support/cloud-harness.ts";

const prompt = "Fix the failing test";
const anId = /^bc-[0-9a-f-]{36}$/;
const missingAgent = "bc-00000000-0000-4000-8000-000000000000";

const shared = openForFile<SharedPlatform>(
  async () => {
    const platform = await openPlatform();
    return { platform, url: (await platform.serve()).url };
  },
  ({ platform }) => platform.close(),
);

test("the changes of an agent are applied to the working tree exactly, and only once", async () => {
  const harness = await openCloudHarness(shared());
  const made = await harness.run(["cloud", "exec", "--follow", "--pr", prompt]);
  expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/\[\w+\][\s\S]*Finished after/) });
  const id = made.stdout.trim();
  expect(id).toMatch(anId);
  expect(made.stderr).toContain(`${harness.url}/agents/${id}`);
  expect(made.stderr).not.toContain(harness.key);
  const { stdout: diff } = await harness.run(["cloud", "diff", id]);
  await harness.git("fetch", "--quiet");
  const branch = await harness.git("for-each-ref", "--format=%(refname:short)", "refs/remotes/origin/platform/");
  expect(diff.trimEnd()).toBe(await harness.git("diff", "--full-index", "main", branch));
  const applied = await harness.run(["apply", id]);
  expect(applied).toMatchObject({
    code: 0,
    stdout: "Successfully applied diff\n",
    stderr: expect.stringMatching(/^Applied: 1 file changed, \+\d/m),
  });
  expect(await harness.git("diff", branch)).toBe("");
  expect(await harness.git("status", "--porcelain")).toMatch(/^ M src\/paging\.js$/);
  expect(await harness.run(["apply", `${harness.url}/agents/${id}`])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("Already there"),
  });
  expect(await harness.git("diff", branch)).toBe("");
});

test("of a huge diff the API returns the beginning with a link, and the commands read the whole", async () => {
  const harness = await openCloudHarness(shared());
  const id = await harness.agent("run `for name in a b c; do seq 1 100000 > $name.txt; done`");
  const headers = { authorization: `Bearer ${harness.key}` };
  const read = async (url: string) => Buffer.from(await (await fetch(url, { headers })).arrayBuffer());
  const answer = await read(`${harness.url}/v1/agents/${id}/diff`);
  const [cut] = JSON.parse(String(answer)).items;
  expect(cut).toMatchObject({ truncated: true, patch: expect.stringMatching(/^diff --git a\/a\.txt/) });
  expect(cut.patch).not.toContain("b.txt");
  const whole = await read(cut.patchUrl);
  expect(whole.length).toBe(cut.patchBytes);
  expect(whole.toString().startsWith(cut.patch)).toBe(true);
  const { stdout } = await harness.run(["cloud", "diff", id]);
  expect(stdout === whole.toString()).toBe(true);
  const [item] = JSON.parse((await harness.run(["cloud", "diff", "--json", id])).stdout).items;
  expect(item.patch === stdout).toBe(true);
  expect(item).not.toHaveProperty("truncated");
  expect((await harness.run(["cloud", "status", id])).stdout).toContain("3 files changed, +300000 -0");
  expect(await harness.run(["apply", id])).toMatchObject({ code: 0 });
  expect(readFileSync(join(harness.clone, "c.txt"), "utf8")).toMatch(/^1\n[\s\S]*\n100000\n$/);
  const unknown = await fetch(`${harness.url}/v1/agents/${id}/diff?repository=github.com/o/r`, { headers });
  expect(await unknown.json()).toMatchObject({ error: { code: "repository_not_found" } });
});

test("a conflicting working tree is refused and left unchanged", async () => {
  const harness = await openCloudHarness(shared());
  const id = await harness.agent(`create notes.txt containing hello, then ${prompt.toLowerCase()}`);
  const file = join(harness.clone, "src/paging.js");
  const mine = readFileSync(file, "utf8").replace(/\+|-|\*/g, "/* mine */ $&");
  writeFileSync(file, mine);
  writeFileSync(join(harness.clone, "untracked.txt"), "mine\n");
  const before = await harness.git("status", "--porcelain");
  const refused = await harness.run(["apply", id]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/do not apply to this working tree, so nothing was changed: src\/paging\.js/);
  expect(readFileSync(file, "utf8")).toBe(mine);
  expect(await harness.git("status", "--porcelain")).toBe(before);
  await harness.git("checkout", "--quiet", "src/paging.js");
  expect(await harness.run(["apply", id])).toMatchObject({ code: 0 });
  expect(readFileSync(join(harness.clone, "notes.txt"), "utf8")).toBe("hello\n");
});

test("agents are listed, shown and followed", async () => {
  const harness = await openCloudHarness(shared());
  const id = await harness.agent(prompt);
  const list = await harness.run(["cloud", "list", "--json"]);
  expect(JSON.parse(list.stdout)).toEqual({
    tasks: [
      expect.objectContaining({
        id,
        title: prompt,
        status: "ready",
        url: `${harness.url}/agents/${id}`,
        summary: { files_changed: 1, lines_added: 1, lines_removed: 1 },
      }),
    ],
    cursor: null,
  });
  expect((await harness.run(["cloud", "list"])).stdout).toMatch(`${id}  Finished`);
  const other = await harness.agent("run echo hello");
  const { tasks, cursor } = JSON.parse((await harness.run(["cloud", "list", "--limit", "1", "--json"])).stdout);
  expect(tasks).toEqual([expect.objectContaining({ id: other })]);
  expect((await harness.run(["cloud", "list", "--limit=1", "--cursor", cursor])).stdout).toMatch(`${id}  Finished`);
  const unchanged = await harness.run(["cloud", "status", other]);
  expect(unchanged).toMatchObject({ code: 0, stdout: expect.stringMatching(/0 files changed, \+0 -0\n$/) });
  const status = await harness.run(["cloud", "status", "--json", id]);
  expect(status.code).toBe(0);
  expect(JSON.parse(status.stdout)).toMatchObject({
    status: "ready",
    run_status: "FINISHED",
    summary: { files_changed: 1 },
    branches: [{ branch: expect.stringContaining("platform/") }],
  });
  const logs = await harness.run(["cloud", "logs", id]);
  expect(logs).toMatchObject({ code: 0, stderr: "" });
  expect(logs.stdout).toMatch(/^\[\w+\]/m);
  expect(logs.stdout).toMatch(/^Finished after/m);
  const frames = (await harness.run(["cloud", "logs", "--json", id])).stdout.trim().split("\n");
  expect(frames.map((line) => JSON.parse(line).event).at(-1)).toBe("done");
});

test("exec, list, status and logs say that an agent uses the practice model", async () => {
  const harness = await openCloudHarness(shared());
  const made = await harness.run(["cloud", "exec", "--follow", "run echo hello"]);
  expect(made.stderr).toMatch(/^Model: practice model \(scripted, no intelligence\)$/m);
  // The output of its command, as it came.
  expect(made.stderr).toMatch(/^\[run_terminal_cmd\] echo hello\n {2}hello$/m);
  const id = made.stdout.trim();
  for (const command of [["list"], ["status", id], ["logs", id]])
    expect((await harness.run(["cloud", ...command])).stdout, command[0]).toContain("practice model (scripted");
  const listed = JSON.parse((await harness.run(["cloud", "list", "--json"])).stdout);
  const shown = JSON.parse((await harness.run(["cloud", "status", "--json", id])).stdout);
  for (const { model } of [listed.tasks[0], shown]) expect(model).toEqual({ id: "practice", provider: "practice" });
});

test("an agent works on the repository and branch that the flags name", async () => {
  const harness = await openCloudHarness(shared());
  await harness.git("config", "user.email", "ada@example.com");
  await harness.git("config", "user.name", "Ada");
  await harness.git("checkout", "--quiet", "-b", "old");
  writeFileSync(join(harness.clone, "only-here.txt"), "here\n");
  await harness.git("add", "--all");
  await harness.git("commit", "--quiet", "--message=Only here");
  await harness.git("push", "--quiet", "origin", "old");
  const address = (await harness.git("remote", "get-url", "origin")).replace(/user:.*@/, "");
  const id = await harness.agent(prompt, "--repo", address, "--branch", "old");
  const { stdout } = await harness.run(["cloud", "diff", "--json", id]);
  expect(JSON.parse(stdout).items).toMatchObject([
    {
      baseCommit: await harness.git("rev-parse", "old"),
      baseBranch: "old",
      patch: expect.stringContaining("paging.js"),
    },
  ]);
  const made = JSON.parse((await harness.run(["cloud", "exec", "--json", "--env", "cloud", prompt])).stdout);
  expect(made).toMatchObject({ id: expect.stringMatching(anId), run_id: expect.stringMatching(/^run-/) });
});

test("a failure is a message and an exit code", async () => {
  const harness = await openCloudHarness(shared());
  const failure = async (args: string[], env?: Record<string, string>) => {
    const { code, stdout, stderr } = await harness.run(args, env);
    expect(stdout).toBe("");
    return { code, stderr };
  };
  const apply = ["apply", missingAgent];
  expect(await failure(apply)).toEqual({
    code: 2,
    stderr: expect.stringContaining(`There is no agent ${missingAgent}`),
  });
  expect(await failure(apply, { PLATFORM_API_KEY: "" })).toEqual({
    code: 3,
    stderr: expect.stringContaining("Set PLATFORM_API_KEY"),
  });
  const wrong = `plt_${"0".repeat(12)}_${"0".repeat(64)}`;
  expect(await failure(apply, { PLATFORM_API_KEY: wrong })).toEqual({
    code: 3,
    stderr: expect.stringContaining("Invalid API key"),
  });
  expect(await failure(apply, { PLATFORM_BACKEND_URL: "" })).toEqual({
    code: 2,
    stderr: expect.stringContaining("Set PLATFORM_BACKEND_URL"),
  });
  expect(await failure(apply, { PLATFORM_BACKEND_URL: "http://127.0.0.1:1" })).toEqual({
    code: 4,
    stderr: expect.stringContaining("The platform at http://127.0.0.1:1 could not be reached"),
  });
  expect(await failure(apply, { PLATFORM_BACKEND_URL: await somethingElse() })).toEqual({
    code: 2,
    stderr: expect.stringContaining("did not respond like a platform server"),
  });
  expect(await failure(["apply", "nothing"])).toEqual({
    code: 2,
    stderr: expect.stringContaining('Invalid agent id "nothing"'),
  });
  expect(await failure(["cloud", "list", "--limit", "21"])).toEqual({
    code: 2,
    stderr: expect.stringContaining("1 to 20"),
  });
  expect(await failure(["cloud", "exec", "--env", "pool:fast", prompt])).toEqual({
    code: 2,
    stderr: expect.stringContaining('no pool "fast"'),
  });
  expect(await failure(["cloud", "exec", "--repo", "file:///etc", prompt])).toEqual({
    code: 2,
    stderr: expect.stringContaining("repos[0].url"),
  });
});

async function somethingElse(): Promise<string> {
  const server = createServer((_, response) => response.end("<html>hello</html>")).listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
}
