// A repository of the embedded git host with a pull request: `topic` changes README.md and adds a file.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { openClient } from "@agentcli/testkit/platform";
import { expect } from "vitest";
import { userGit } from "./git-host-harness.ts";

export interface PullName {
  name: string;
  number: string;
}

/** `files`: what else the first commit has. */
export async function openPull(
  url: string,
  key: string,
  name: string,
  files: Record<string, string> = {},
): Promise<PullName> {
  const client = openClient(url, key);
  expect((await client.post("/v1/repositories", { name })).status).toBe(201);
  await pushBranches(`${url}/git/${name}.git`.replace("://", `://${key}@`), files);
  const opened = await client.post(`/git/${name}/pulls`, {
    title: "Say more",
    body: "A **better** text.",
    head: "topic",
  });
  expect(opened.status).toBe(201);
  return { name, number: String((opened.body as { number: number }).number) };
}

async function pushBranches(remote: string, others: Record<string, string>): Promise<void> {
  const work = await temporaryDirectory();
  const git = (...args: string[]) => userGit(work.path, ...args);
  const commit = async (files: Record<string, string>) => {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(work.path, file)), { recursive: true });
      writeFileSync(join(work.path, file), text);
    }
    await git("add", "--all");
    await git("commit", "--quiet", "--message=Change");
  };
  await git("init", "--quiet", "--initial-branch=main");
  await commit({ "README.md": "# Shop\n\nold line\n", ...others });
  await git("branch", "topic");
  await git("push", "--quiet", remote, "main");
  await git("checkout", "--quiet", "topic");
  await commit({ "README.md": "# Shop\n\nnew line\n", "more.txt": "more\n" });
  await git("push", "--quiet", remote, "topic");
  await work.remove();
}
