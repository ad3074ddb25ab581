// What people get from a run: its pull request says what was done, verified and held back.
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
