// --clone-git-repos: a worker of a pool clones the repositories of an agent itself, with a token that reads them and nothing else.
import { mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Reply } from "@agentcli/testkit";
import { startGithub } from "@agentcli/testkit/github";
import { openPlatformForTest, startTestWorker } from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";

const command = (cmd: string, callId: string): Reply => ({
  calls: [{ name: "exec_command", arguments: { cmd }, callId }],
});
const look = "git status --short; git log --format=%s -1; cat README.md; git remote -v; echo made > made.txt";
const replies: Reply[] = [
  { messages: ["Again."], when: { bodyIncludes: '"call_again"' } },
  { ...command("cat made.txt; git status --short", "call_again"), when: { bodyIncludes: "read it again" } },
  { messages: ["Done."], when: { bodyIncludes: '"call_look"' } },
  command(look, "call_look"),
];

async function openShop(args: string[], programs: Record<string, string> = {}) {
  const fake = await startGithub();
  onTestFinished(() => fake.close());
  const harness = await openPlatformForTest({ replies: { replies, repeat: "always" } });
  const keyFile = join(harness.directory, "app.pem");
  writeFileSync(keyFile, fake.app.privateKey, { mode: 0o600 });
  const server = await harness.serve({
    env: {
      PLATFORM_NETWORK_ALLOW_PRIVATE: "127.0.0.0/8",
      PLATFORM_SOURCE_HOSTS_GITHUB_BASE_URL: fake.apiUrl,
      PLATFORM_SOURCE_HOSTS_GITHUB_APP_ID: fake.app.id,
      PLATFORM_SOURCE_HOSTS_GITHUB_PRIVATE_KEY_FILE: keyFile,
    },
  });
  const client = await harness.client(server);
  await fake.addRepository("acme/shop", { files: { "README.md": "Shop\n" }, collaborators: ["ada"] });
  const account = await harness.key("--service-account");
  const { directory } = harness;
  const bin = mkdtempSync(join(directory, "bin-"));
  for (const [name, text] of Object.entries(programs)) writeFileSync(join(bin, name), text, { mode: 0o755 });
  const worker = startTestWorker({
    ...{ url: server.url, key: account, directory, args: ["--pool", "fast", ...args] },
    env: { PATH: `${bin}:${process.env.PATH}` },
  });
  await expect.poll(() => worker.log().join("\n")).toContain("Waiting for agents.");
  await harness.database.query(
    "insert into source_accounts (user_id, host, account_id, login) select id, $1, '1', 'ada' from users",
    [new URL(fake.url).host],
  );
  const repos = [{ url: `${fake.url}/acme/shop` }];
  const start = () => client.create("work", { env: { type: "pool", name: "fast" }, repos });
  return { fake, client, worker, account, start };
}

const filesBelow = (directory: string): string[] =>
  readdirSync(directory, { recursive: true, encoding: "utf8" })
    .map((name) => join(directory, name))
    .filter((path) => statSync(path).isFile());

test("the checkout is a clone of the worker, work on it is handed off, and a follow-up goes on in it", async () => {
  const { fake, client, worker, account, start } = await openShop(["--clone-git-repos", "--debug"]);
  const ids = await start();
  const frames = JSON.stringify(await client.stream(ids));
  expect(frames).toContain("Shop\\norigin");
  expect(frames).not.toContain("did not clone");
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED", result: "Done." });
  expect(worker.log().join("\n")).toContain(`repos.clone of ${ids.agentId}`);
  const second = await client.followUp(ids.agentId, "read it again");
  expect(JSON.stringify(await client.stream(second))).toContain("made\\n");
  expect(await client.read(second)).toMatchObject({ status: "FINISHED", result: "Again." });
  expect(worker.log().join("\n").split("repos.clone").length).toBe(2);
  expect((await client.get(`/v1/agents/${ids.agentId}/diff`)).text).toContain("made.txt");
  const reading = fake.grants.filter(({ permissions }) => permissions.contents === "read");
  expect(reading).toMatchObject([{ repositories: ["shop"], permissions: { contents: "read", metadata: "read" } }]);
  const secrets = [account, ...reading.map(({ token }) => token)];
  const contents = filesBelow(join(worker.data, "agents")).map((path) => readFileSync(path));
  expect(contents.filter((content) => secrets.some((secret) => content.includes(secret)))).toEqual([]);
  for (const secret of secrets) expect(frames).not.toContain(secret);
});

test("what the worker cannot clone comes from the platform, and the run says so", async () => {
  // The host is not reached from the worker; commands of the agent have the git of the system.
  const git = "#!/bin/sh\necho 'fatal: no route to the host' >&2; exit 128\n";
  const { client, start } = await openShop(["--clone-git-repos"], { git });
  const ids = await start();
  const frames = JSON.stringify(await client.stream(ids));
  expect(frames).toContain("The worker did not clone shop: fatal: no route to the host");
  expect(frames).toContain("Shop\\norigin");
  expect(await client.read(ids)).toMatchObject({ status: "FINISHED" });
});
