// A secret of the agent leaves in no commit: not in files, names, messages or the history. The run names where it is.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { userGit } from "./git-host-harness.ts";
import { agentBranch, type HandoffHarness, openHandoffHarness, shopFiles } from "./handoff-harness.ts";

let harness: HandoffHarness;

beforeAll(async () => {
  harness = await openHandoffHarness();
});
afterAll(() => harness.close());

const value = "hunter2-the-very-long-value";
const secrets = [{ name: "DEPLOY_TOKEN", value }];

const put = (root: string, name: string, text: string | Buffer): void => {
  mkdirSync(dirname(join(root, name)), { recursive: true });
  writeFileSync(join(root, name), text);
};

const commitAll = async (root: string, message: string): Promise<void> => {
  await userGit(root, "add", "-A");
  await userGit(root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "-m", message);
};

const cases: { name: string; make(root: string): Promise<void> | void; where: string }[] = [
  {
    name: "a file that is not committed",
    make: (root) => put(root, "src/config.js", `first\nconst token = "${value}";\n`),
    where: "src/config.js, line 2",
  },
  {
    name: "a file in base64",
    make: (root) => put(root, "token.txt", Buffer.from(`x${value}`).toString("base64")),
    where: "token.txt, line 1",
  },
  {
    name: "a binary file",
    make: (root) => put(root, "data.bin", Buffer.concat([Buffer.from([0, 255, 254, 10]), Buffer.from(value)])),
    where: "data.bin, line 2",
  },
  {
    name: "a message",
    async make(root) {
      put(root, "a.txt", "a\n");
      await commitAll(root, `Use ${value}`);
    },
    where: "the message of commit ",
  },
  {
    name: "the name of a file",
    make: (root) => put(root, `logs/${value}.txt`, "a\n"),
    where: "the name of a file in logs",
  },
  {
    name: "the name of a file, after a line break",
    make: (root) => put(root, `logs/a\n${value}`, "a\n"),
    where: "the name of a file in logs",
  },
  {
    name: "a commit whose successor removes it",
    async make(root) {
      put(root, "a.txt", value);
      await commitAll(root, "One");
      put(root, "a.txt", "nothing\n");
      await commitAll(root, "Two");
    },
    where: "a.txt, line 1",
  },
];

for (const { name, make, where } of cases) {
  test(`nothing is pushed while a secret is in ${name}`, async () => {
    const shop = await harness.shop();
    const agent = await harness.agent([{ url: shop.url }]);
    await make(agent.workspace.root);
    const { faults, branches } = await agent.finish("Done", { secrets });
    expect(faults).toMatchObject([{ code: "secret_in_commit" }]);
    expect(faults[0]?.message).toContain(`The secret DEPLOY_TOKEN is in ${where}`);
    expect(JSON.stringify({ faults, branches })).not.toContain(value);
    expect(await agentBranch(shop.directory)).toBe("");
    // Not as an object that no branch has, either.
    expect(await shop.git("count-objects", "-v")).toContain("count: 0");
  });
}

test("after the agent has taken the secret out of its commit, the work is pushed", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root } = agent.workspace;
  put(root, "a.txt", value);
  expect((await agent.finish("One", { secrets })).faults).toHaveLength(1);
  put(root, "a.txt", "nothing\n");
  await userGit(root, "add", "-A");
  await userGit(root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "-q", "--amend", "-m", "Clean");
  expect((await agent.finish("Two", { secrets })).faults).toEqual([]);
  expect((await shopFiles(shop.directory)).split("\n")).toEqual(["README.md", "a.txt"]);
  expect(await shop.git("log", "--all", "-p")).not.toContain(value);
});

test("what the repository contained before the agent came does not stop it", async () => {
  const shop = await harness.shop({ "README.md": `${value}\n` });
  const agent = await harness.agent([{ url: shop.url }]);
  put(agent.workspace.root, "a.txt", "a\n");
  expect((await agent.finish("One", { secrets })).faults).toEqual([]);
});
