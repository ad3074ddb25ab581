// agentcli meets the platform: agents are made, looked at, and their work brought home.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { cloudDesk } from "./cloud-desk.ts";

const prompt = "Fix the failing test";
const anId = /^bc-[0-9a-f-]{36}$/;
const nobody = "bc-00000000-0000-4000-8000-000000000000";

test("what an agent did is applied to the working tree, exactly, and only once", async () => {
  const desk = await cloudDesk();
  const made = await desk.run(["cloud", "exec", "--follow", "--pr", prompt]);
  expect(made).toMatchObject({ code: 0, stderr: expect.stringMatching(/\[\w+\][\s\S]*FINISHED after/) });
  const id = made.stdout.trim();
  expect(id).toMatch(anId);
  expect(made.stderr).toContain(`${desk.url}/agents/${id}`);
  expect(made.stderr).not.toContain(desk.key);
  const { stdout: diff } = await desk.run(["cloud", "diff", id]);
  await desk.git("fetch", "--quiet");
  const branch = await desk.git("for-each-ref", "--format=%(refname:short)", "refs/remotes/origin/platform/");
  expect(diff.trimEnd()).toBe(await desk.git("diff", "--full-index", "main", branch));
  const applied = await desk.run(["apply", id]);
  expect(applied).toMatchObject({
    code: 0,
    stdout: "Successfully applied diff\n",
    stderr: expect.stringMatching(/^Applied: 1 file changed, \+\d/m),
  });
  expect(await desk.git("diff", branch)).toBe("");
  expect(await desk.git("status", "--porcelain")).toMatch(/^ M src\/paging\.js$/);
  expect(await desk.run(["apply", `${desk.url}/agents/${id}`])).toMatchObject({
    code: 0,
    stderr: expect.stringContaining("Already there"),
  });
  expect(await desk.git("diff", branch)).toBe("");
});

test("a tree that stands against it is refused and left as it is", async () => {
  const desk = await cloudDesk();
  const id = await desk.agent(`create notes.txt containing hello, then ${prompt.toLowerCase()}`);
  const file = join(desk.clone, "src/paging.js");
  const mine = readFileSync(file, "utf8").replace(/\+|-|\*/g, "/* mine */ $&");
  writeFileSync(file, mine);
  writeFileSync(join(desk.clone, "untracked.txt"), "mine\n");
  const before = await desk.git("status", "--porcelain");
  const refused = await desk.run(["apply", id]);
  expect(refused).toMatchObject({ code: 1, stdout: "" });
  expect(refused.stderr).toMatch(/do not fit this working tree, so nothing was changed: src\/paging\.js/);
  expect(readFileSync(file, "utf8")).toBe(mine);
  expect(await desk.git("status", "--porcelain")).toBe(before);
  await desk.git("checkout", "--quiet", "src/paging.js");
  expect(await desk.run(["apply", id])).toMatchObject({ code: 0 });
  expect(readFileSync(join(desk.clone, "notes.txt"), "utf8")).toBe("hello\n");
});

test("agents are listed, looked at and heard", async () => {
  const desk = await cloudDesk();
  const id = await desk.agent(prompt);
  const list = await desk.run(["cloud", "list", "--json"]);
  expect(JSON.parse(list.stdout)).toEqual({
    tasks: [
      expect.objectContaining({
        id,
        title: prompt,
        status: "ready",
        url: `${desk.url}/agents/${id}`,
        summary: { files_changed: 1, lines_added: 1, lines_removed: 1 },
      }),
    ],
    cursor: null,
  });
  expect((await desk.run(["cloud", "list"])).stdout).toMatch(`${id}  ready`);
  const other = await desk.agent("run echo hello");
  const { tasks, cursor } = JSON.parse((await desk.run(["cloud", "list", "--limit", "1", "--json"])).stdout);
  expect(tasks).toEqual([expect.objectContaining({ id: other })]);
  expect((await desk.run(["cloud", "list", "--limit=1", "--cursor", cursor])).stdout).toMatch(`${id}  ready`);
  const unchanged = await desk.run(["cloud", "status", other]);
  expect(unchanged).toMatchObject({ code: 0, stdout: expect.stringMatching(/0 files changed, \+0 -0\n$/) });
  const status = await desk.run(["cloud", "status", "--json", id]);
  expect(status.code).toBe(0);
  expect(JSON.parse(status.stdout)).toMatchObject({
    status: "ready",
    run_status: "FINISHED",
    summary: { files_changed: 1 },
    branches: [{ branch: expect.stringContaining("platform/") }],
  });
  const logs = await desk.run(["cloud", "logs", id]);
  expect(logs).toMatchObject({ code: 0, stderr: "" });
  expect(logs.stdout).toMatch(/^\[\w+\]/m);
  expect(logs.stdout).toMatch(/^FINISHED after/m);
  const frames = (await desk.run(["cloud", "logs", "--json", id])).stdout.trim().split("\n");
  expect(frames.map((line) => JSON.parse(line).event).at(-1)).toBe("done");
});

test("an agent that is told to work elsewhere and to start elsewhere does so", async () => {
  const desk = await cloudDesk();
  await desk.git("config", "user.email", "ada@example.com");
  await desk.git("config", "user.name", "Ada");
  await desk.git("checkout", "--quiet", "-b", "old");
  writeFileSync(join(desk.clone, "only-here.txt"), "here\n");
  await desk.git("add", "--all");
  await desk.git("commit", "--quiet", "--message=Only here");
  await desk.git("push", "--quiet", "origin", "old");
  const address = (await desk.git("remote", "get-url", "origin")).replace(/user:.*@/, "");
  const id = await desk.agent(prompt, "--repo", address, "--branch", "old");
  const { stdout } = await desk.run(["cloud", "diff", "--json", id]);
  expect(JSON.parse(stdout).items).toMatchObject([
    { baseCommit: await desk.git("rev-parse", "old"), baseBranch: "old", patch: expect.stringContaining("paging.js") },
  ]);
  const made = JSON.parse((await desk.run(["cloud", "exec", "--json", "--env", "cloud", prompt])).stdout);
  expect(made).toMatchObject({ id: expect.stringMatching(anId), run_id: expect.stringMatching(/^run-/) });
});

test("trouble is a sentence and an exit code", async () => {
  const desk = await cloudDesk();
  const say = async (args: string[], env?: Record<string, string>) => {
    const { code, stdout, stderr } = await desk.run(args, env);
    expect(stdout).toBe("");
    return { code, stderr };
  };
  const apply = ["apply", nobody];
  expect(await say(apply)).toEqual({ code: 2, stderr: expect.stringContaining(`There is no agent ${nobody}`) });
  expect(await say(apply, { PLATFORM_API_KEY: "" })).toEqual({
    code: 3,
    stderr: expect.stringContaining("Set PLATFORM_API_KEY"),
  });
  const wrong = `plt_${"0".repeat(12)}_${"0".repeat(64)}`;
  expect(await say(apply, { PLATFORM_API_KEY: wrong })).toEqual({
    code: 3,
    stderr: expect.stringContaining("The API key is not known"),
  });
  expect(await say(apply, { PLATFORM_BACKEND_URL: "" })).toEqual({
    code: 2,
    stderr: expect.stringContaining("Set PLATFORM_BACKEND_URL"),
  });
  expect(await say(apply, { PLATFORM_BACKEND_URL: "http://127.0.0.1:1" })).toEqual({
    code: 4,
    stderr: expect.stringContaining("The platform at http://127.0.0.1:1 cannot be reached"),
  });
  expect(await say(apply, { PLATFORM_BACKEND_URL: await somethingElse() })).toEqual({
    code: 2,
    stderr: expect.stringContaining("does not answer as a platform does"),
  });
  expect(await say(["apply", "nothing"])).toEqual({
    code: 2,
    stderr: expect.stringContaining('"nothing" is no agent'),
  });
  expect(await say(["cloud", "list", "--limit", "21"])).toEqual({
    code: 2,
    stderr: expect.stringContaining("1 to 20"),
  });
  expect(await say(["cloud", "exec", "--env", "pool:fast", prompt])).toEqual({
    code: 2,
    stderr: expect.stringContaining('no pool "fast"'),
  });
  expect(await say(["cloud", "exec", "--repo", "file:///etc", prompt])).toEqual({
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
