// Pull requests that an owner asks for after the runs: there is one then, or an error says why there is none.
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { PullRequestDetails } from "@agentcli/protocol/api";
import { call, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { userGit } from "../repositories/git-host-harness.ts";
import { openRunHarness, type RunHarness } from "./run-harness.ts";

const shell = (cmd: string) => call("exec_command", { cmd });
const step = (name: string) => [shell(`echo ${name} > ${name}.txt`), replyWith(`Wrote ${name}.`)];

/** A clone of the repository by a user. */
async function cloneOf({ fixture }: RunHarness, url: string) {
  const work = await temporaryDirectory();
  onTestFinished(() => work.remove());
  await userGit(work.path, "clone", "--quiet", url.replace("://", `://${fixture.key}@`), ".");
  return (...args: string[]) => userGit(work.path, ...args);
}

async function pushedAgent(name: string, more: object = {}, replies = step("first")) {
  const harness = await openRunHarness({ replies });
  const url = await harness.repository(name, { "readme.md": "steps\n" });
  const ids = await harness.client.create({ prompt: { text: "take a step" }, repos: [{ url }], ...more });
  await harness.client.stream(ids);
  const open = () => harness.client.post(`/v1/agents/${ids.agentId}/pull-requests`);
  return { harness, url, ids, open };
}

const refusal = (reason: string) => ({
  status: 409,
  body: { error: { code: "pull_request_conflict", message: expect.stringContaining(reason) } },
});

test("an agent that works on the branch itself has no pull request, and the answer says so", async () => {
  const { open } = await pushedAgent("direct", { workOnCurrentBranch: true });
  expect(await open()).toMatchObject(refusal('works on "main" itself'));
});

test("without the files of the agent there is no pull request, and the answer says so", async () => {
  const { harness, ids, open } = await pushedAgent("emptied");
  rmSync(join(harness.dataDirectory, "workspaces", ids.agentId), { recursive: true });
  expect(await open()).toMatchObject(refusal("files of the agent"));
});

test("a host that refuses the pull request is named with its reason", async () => {
  const { harness, url, open } = await pushedAgent("refusing");
  const git = await cloneOf(harness, url);
  const [branch = ""] = (await git("for-each-ref", "--format=%(refname:lstrip=3)", "refs/remotes"))
    .split("\n")
    .filter((name) => name.startsWith("platform/"));
  await git("push", "--quiet", "origin", `:${branch}`);
  expect(await open()).toMatchObject(refusal(branch));
});

test("a pull request after a push that failed is of the commit that was pushed at last", async () => {
  const replies = [...step("first"), ...step("second")];
  const { harness, url, ids, open } = await pushedAgent("moved", {}, replies);
  const git = await cloneOf(harness, url);
  const { branches } = (await harness.client.read(ids)).git as { branches: { branch: string }[] };
  const branch = branches[0]?.branch ?? "";
  const first = (await git("rev-parse", `origin/${branch}`)).trim();
  await git("checkout", "--quiet", branch);
  await git("commit", "--quiet", "--amend", "--message=By a person");
  await git("push", "--quiet", "--force", "origin", branch);
  const second = await harness.client.followUp(ids.agentId, { prompt: { text: "and another" } });
  await harness.client.stream(second);
  expect(await harness.client.read(second)).toMatchObject({ status: "ERROR" });
  expect(await open()).toMatchObject(refusal("was changed in the meantime"));

  await git("push", "--quiet", "--force", "origin", `${first}:refs/heads/${branch}`);
  expect(await open()).toMatchObject({
    status: 200,
    body: { branches: [{ prUrl: expect.stringMatching(/pulls\/1$/) }] },
  });
  const pull = await harness.client.getJson<PullRequestDetails>("/v1/repositories/moved/pulls/1");
  await git("fetch", "--quiet", "origin");
  const pushed = (await git("rev-parse", `origin/${branch}`)).trim();
  expect(pushed).not.toBe(first);
  expect(pull.headCommit).toBe(pushed);
  expect(pull.body).toContain(pushed.slice(0, 10));
  expect(await git("show", `${pushed}:second.txt`)).toContain("second");
});
