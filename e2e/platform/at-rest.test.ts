// Prompts, replies and secrets: neither database nor data directory contains any of them in clear text.

import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import {
  type PlatformClient,
  type RunIds,
  type ServedPlatform,
  sendRequest,
  servePlatformForTest,
  type TestDatabase,
} from "@agentcli/testkit/platform";
import { expect, onTestFinished, test } from "vitest";

/** Each is used once only, so that a match identifies its source. */
const canaries = {
  prompt: "canaryprompt7f3a",
  image: "Y2FuYXJ5aW1hZ2U3ZjNh",
  name: "canaryname7f3a",
  envVar: "canaryenvvar7f3a",
  runEnvVar: "canaryrunenv7f3a",
  header: "canaryheader7f3a",
  subagent: "canarysubagent7f3a",
  metadata: "canarymetadata7f3a",
  message: "canarymessage7f3a",
  reasoning: "canaryreasoning7f3a",
  command: "canarycommand7f3a",
  output: "canaryoutput7f3a",
  artifact: "canaryartifact7f3a",
  artifactName: "canaryfile7f3a",
  followUp: "canaryfollow7f3a",
  failure: "canaryfailure7f3a",
  comment: "canarycomment7f3a",
  review: "canaryreview7f3a",
  pullTitle: "canarytitle7f3a",
  hookUrl: "canaryhookurl7f3a",
  hookSecret: "canaryhooksecret7f3a-of-32-letters",
};

const script = [
  {
    when: { bodyIncludes: canaries.failure },
    failed: { code: "invalid_prompt", message: `no: ${canaries.failure}` },
  },
  {
    when: { bodyIncludes: canaries.followUp },
    messages: ["and that too"],
  },
  {
    reasoning: { summary: [canaries.reasoning] },
    calls: [
      {
        name: "exec_command",
        arguments: {
          cmd: `: ${canaries.command}; echo changed >> README.md; echo canary"output"7f3a; printenv SECRET OTHER; echo ${canaries.artifact} > "$PLATFORM_ARTIFACTS_DIR/${canaries.artifactName}.txt"`,
        },
      },
    ],
  },
  { messages: [`All is done: ${canaries.message}`] },
];

test("after runs with a secret in every field, dump and directory contain none of them", async () => {
  const platform = await servePlatformForTest({
    replies: script,
    env: { PLATFORM_NETWORK_ALLOW_PRIVATE: "127.0.0.0/8" },
  });
  const client = await platform.client();
  await useSecrets(platform, client);
  const database = platform.harness.database;
  await platform.server.stop();
  const secrets = { ...canaries, key: client.key, secretOfKey: client.key.split("_")[2] ?? "" };
  const found = [
    ...(await foundInDatabase(database, secrets)),
    ...foundInDirectory(platform.harness.data, secrets),
    ...foundIn("log", Buffer.from(platform.server.log().join("\n")), secrets),
  ];
  expect(found).toEqual([]);
});

test("the key-encryption key is readable by its owner only, and in no dump", async () => {
  const platform = await servePlatformForTest();
  const client = await platform.client();
  await client.waitForRun(await client.create("work"));
  const file = join(platform.harness.data, "kek");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const kek = readFileSync(file, "utf8").trim();
  const bytes = /^[0-9a-f]{64}$/i.test(kek) ? Buffer.from(kek, "hex") : Buffer.from(kek, "base64");
  const database = platform.harness.database;
  const dump = await dumpOf(database);
  for (const { bytes: value } of dump) {
    expect(value.includes(kek)).toBe(false);
    expect(value.includes(bytes)).toBe(false);
  }
});

async function useSecrets({ repository, harness }: ServedPlatform, client: PlatformClient): Promise<void> {
  const url = await repository("sample", { "README.md": "# Sample\n" });
  const servers = await mcpServerUrl();
  const made = await client.create(`Tidy up, please.\n\n${canaries.prompt}`, {
    name: `Tidy ${canaries.name}`,
    repos: [{ url }],
    autoCreatePR: true,
    envVars: { SECRET: canaries.envVar },
    runEnvVars: { OTHER: canaries.runEnvVar },
    metadata: { tag: canaries.metadata },
    webhook: { url: `${servers}/${canaries.hookUrl}`, secret: canaries.hookSecret },
    mcpServers: [{ name: "tools", url: servers, headers: { authorization: canaries.header } }],
    customSubagents: [{ name: "critic", description: canaries.subagent, prompt: canaries.subagent }],
  });
  const run = await client.waitForRun(made);
  expect(run).toMatchObject({ status: "FINISHED", result: expect.stringContaining(canaries.message) });
  await followUp(client, made);
  await comment(client, run.git?.branches[0]?.prUrl ?? expect.fail("no pull request"));
  await client.get(`/v1/agents/${made.agentId}/artifacts/download?path=artifacts/${canaries.artifactName}.txt`);
  // Many servers log URLs and headers.
  await client.get(`/v1/agents/${canaries.prompt}?cursor=${canaries.prompt}`, { "x-request-id": "plain" });
  await sendRequest(client.url, { method: "GET", path: `/${canaries.prompt}` });
  await harness.run(["keys", "list"]);
}

async function followUp(client: PlatformClient, { agentId }: RunIds): Promise<void> {
  const image = { data: canaries.image, mimeType: "image/png" };
  const prompt = { text: `and ${canaries.followUp}`, images: [image] };
  const answer = await client.post(`/v1/agents/${agentId}/runs`, { prompt, envVars: { THIRD: canaries.runEnvVar } });
  const { run } = answer.body as { run: { id: string } };
  await client.waitForRun({ agentId, runId: run.id });
  const failing = await client.followUp(agentId, `now ${canaries.failure}`);
  expect(await client.waitForRun(failing)).toMatchObject({ status: "ERROR" });
}

async function comment(client: PlatformClient, prUrl: string): Promise<void> {
  const path = prUrl.replace(client.url, "");
  const patched = await sendRequest(client.url, {
    method: "PATCH",
    path,
    headers: { authorization: `Bearer ${client.key}`, "content-type": "application/json" },
    body: JSON.stringify({ title: canaries.pullTitle }),
  });
  const responses = [
    patched,
    await client.post(`${path}/comments`, { body: canaries.comment }),
    await client.post(`${path}/reviews`, { verdict: "commented", body: canaries.review }),
  ];
  expect(responses.map(({ status }) => status)).toEqual([200, 201, 201]);
}

/** Responds with 404 only: headers sent to it are secrets all the same. */
async function mcpServerUrl(): Promise<string> {
  const server = createServer((_, response) => response.writeHead(404).end()).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
}

interface Held {
  where: string;
  bytes: Buffer;
}

/** Every column of every table, bytea as it is and everything else as text. */
async function dumpOf(database: TestDatabase): Promise<Held[]> {
  const columns = await database.query<{ table_name: string; column_name: string; data_type: string }>(
    "select table_name, column_name, data_type from information_schema.columns where table_schema = 'public'",
  );
  const held: Held[] = [];
  for (const { table_name, column_name, data_type } of columns) {
    const bytes = data_type === "bytea" ? `"${column_name}"` : `convert_to("${column_name}"::text, 'UTF8')`;
    const rows = await database.query<{ bytes: Buffer | null }>(`select ${bytes} as bytes from "${table_name}"`);
    for (const row of rows) if (row.bytes) held.push({ where: `${table_name}.${column_name}`, bytes: row.bytes });
  }
  return held;
}

async function foundInDatabase(database: TestDatabase, secrets: Record<string, string>): Promise<string[]> {
  const held = await dumpOf(database);
  expect(held.length).toBeGreaterThan(100);
  return unique(held.flatMap(({ where, bytes }) => foundIn(where, bytes, secrets)));
}

/** Git objects are compressed: code and commits are not secret here. */
function foundInDirectory(directory: string, secrets: Record<string, string>): string[] {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  expect(files.length).toBeGreaterThan(10);
  return files.flatMap(({ parentPath, name }) => {
    const path = join(parentPath, name);
    const where = path.slice(directory.length);
    const inName = foundIn(`the name of ${where}`, Buffer.from(where), secrets);
    return existsSync(path) ? [...inName, ...foundIn(where, readFileSync(path), secrets)] : inName;
  });
}

function foundIn(where: string, bytes: Buffer, secrets: Record<string, string>): string[] {
  const hay = bytes.toString("latin1").toLowerCase();
  return Object.entries(secrets).flatMap(([name, secret]) =>
    hay.includes(secret.toLowerCase()) ? [`${name} in ${where}`] : [],
  );
}

const unique = (texts: string[]): string[] => [...new Set(texts)].sort();
