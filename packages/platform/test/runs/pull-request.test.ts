// What people get from a run: its pull request says what was done, verified and held back.
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { openRunHarness } from "./run-harness.ts";

const shell = (cmd: string) => call("exec_command", { cmd });

test("the pull request of a run has the agent's commit subject, the results of its commands and what was held back", async () => {
  const { client, repository } = await openRunHarness({
    replies: [
      shell("ls && cat total.sh"),
      shell("sh total.sh"),
      shell("sed -i s/3/0/ total.sh && echo TOKEN=1 > .env"),
      shell("git add -A && git -c user.name=A -c user.email=a@b.c commit -qm 'Fix the total'"),
      shell("sh total.sh"),
      shell("for i in 1 2; do seq $i > /dev/null; done"),
      shell("sh lint.sh"),
      replyWith("## Summary\n\nThe total is right now. Lint fails."),
    ],
  });
  const url = await repository("totals", { "total.sh": "exit 3\n", "lint.sh": "exit 4\n" });
  const ids = await client.create({ prompt: { text: "fix the total" }, repos: [{ url }], autoCreatePR: true });
  await client.stream(ids);
  const run = (await client.get(`/v1/agents/${ids.agentId}/runs/${ids.runId}`)).body;
  expect(run, JSON.stringify(run)).toMatchObject({
    status: "FINISHED",
    git: { branches: [{ prUrl: expect.any(String), heldBack: [{ path: ".env", reason: "secret" }] }] },
  });
  const { body } = await client.get("/git/totals/pulls/1");
  expect(body).toMatchObject({ title: "Fix the total" });
  expect((body as { body: string }).body.replace(/[0-9a-f]{10} /, "HASH ")).toBe(`## Summary

The total is right now. Lint fails.

## Verified

- \`sh total.sh\`: passed
- \`sh lint.sh\`: failed with exit code 4

## Commits

- HASH Fix the total

## Held back

These files are not part of this pull request:

- \`.env\`: looks like a secret`);
  const { text } = await client.get("/git/totals/pulls/1/diff");
  expect(text).toContain("total.sh");
  expect(text).not.toContain("TOKEN");
});

test("commits are signed and have the user of the run as their author, whatever identity the agent gives git", async () => {
  const { client, dataDirectory, repository } = await openRunHarness({
    replies: [
      shell("echo 1 > one && git add one && git -c user.name=A -c user.email=a@b.c commit -qm One"),
      shell("git config user.name B; git config user.email b@b.c; echo 2 > two && git add two && git commit -qm Two"),
      replyWith("Two files."),
    ],
  });
  const url = await repository("shop", { "README.md": "# Shop\n" });
  const ids = await client.create({ prompt: { text: "add files" }, repos: [{ url }] });
  await client.stream(ids);
  const run = (await client.get(`/v1/agents/${ids.agentId}/runs/${ids.runId}`)).body as {
    git: { branches: { branch: string }[] };
  };
  const hosted = join(dataDirectory, "repositories");
  const bare = readdirSync(hosted, { recursive: true, encoding: "utf8" }).find((path) => path.endsWith("/HEAD")) ?? "";
  const range = `main..${run.git.branches[0]?.branch}`;
  const git = async (...args: string[]) =>
    (await promisify(execFile)("git", ["--git-dir", join(hosted, bare, ".."), ...args])).stdout;
  const { body: me } = await client.get("/v1/me");
  const { userEmail } = me as { userEmail: string };
  const people = `${userEmail} agent@platform.invalid`;
  expect(await git("log", "--format=%s %ae %ce", range)).toBe(`Two ${people}\nOne ${people}\n`);
  expect((await git("log", "--format=raw", range)).match(/^gpgsig /gm)).toHaveLength(2);
});
