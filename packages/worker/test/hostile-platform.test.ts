// A platform that is not trusted: it reaches the agent's directory on the worker, and no other file of that machine.
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { duplexPair } from "node:stream";
import { fileURLToPath } from "node:url";
import { RegisterRequest } from "@agentcli/protocol/worker-link";
import { temporaryDirectory } from "@agentcli/testkit";
import { type OpenedWorkspace, openLink, probeSandbox } from "@agentcli/workspace";
import { expect, onTestFinished, test } from "vitest";
import { openClaimOrder } from "../src/claim-order.ts";
import { cloneRepositories } from "../src/clones.ts";
import { openAgentFiles } from "../src/files.ts";
import { openRequests } from "../src/requests.ts";
import { openAgentSandboxes } from "../src/sandboxes.ts";
import { openSessionHooks } from "../src/session-hooks.ts";
import { openUploads } from "../src/uploads.ts";

const agent = "bc-00000000-0000-4000-8000-000000000001";
const serverProgram = fileURLToPath(new URL("../dist/workspace-server.cjs", import.meta.url));
const limits = { memoryBytes: null, processes: null, fileBytes: null, temporaryBytes: null };

/** The worker's side with real files and sandboxes, and a link to it as a platform has it. */
async function openWorker() {
  const { path, remove } = await temporaryDirectory({ "owner/secret.txt": "secret of the owner\n" });
  onTestFinished(remove);
  const { PATH = "" } = process.env;
  const probe = await probeSandbox({ path: PATH, untrusted: [], serverProgram });
  if (probe.kind === "unavailable") throw new Error(probe.reason);
  const dataDirectory = join(path, "data");
  const sandboxes = openAgentSandboxes({ dataDirectory, serverProgram, probe, variables: process.env });
  onTestFinished(() => sandboxes.closeAll());
  const hooks = openSessionHooks(sandboxes, () => {});
  const sessions = {
    claimed: async () => true,
    released: async () => {},
    finished() {},
    used() {},
    runOf: () => undefined,
  };
  const { answer: requests } = openRequests({
    ...{ files: openAgentFiles(dataDirectory), sandboxes, sessions, hooks, inOrder: openClaimOrder() },
    clone: (request) => cloneRepositories(request, { dataDirectory, variables: process.env }),
    uploads: openUploads({ dataDirectory, url: "http://127.0.0.1:1", variables: {}, log() {} }),
  });
  const [here, there] = duplexPair();
  await openLink({ stream: there, side: "worker", onRequest: requests });
  const link = await openLink({ stream: here, side: "platform", onRequest: async () => {} });
  onTestFinished(() => link.close());
  await link.request("agent.claim", { agent, runId: "run-1" });
  return { owner: join(path, "owner"), files: join(dataDirectory, "agents", agent, "files"), link, sandboxes };
}

const sandbox = (root: string, key = "one") => ({
  ...{ agent, key, mode: "workspace-write" as const, root, writable: [] },
  ...{ incarnation: key, variables: {}, limits },
});

/** Changes as they are on the wire. */
function changes(...headers: object[]): Buffer {
  const parts = headers.flatMap((header) => {
    const text = Buffer.from(JSON.stringify(header));
    const length = Buffer.alloc(4);
    length.writeUInt32BE(text.length);
    return [length, text];
  });
  return Buffer.concat([...parts, Buffer.alloc(4)]);
}

async function output(workspace: OpenedWorkspace, script: string): Promise<string> {
  let text = "";
  const start = { argv: ["sh", "-c", script] };
  const onChunk = (chunk: { text: string }) => {
    text += chunk.text;
  };
  await workspace.exec({ id: script, start }, onChunk, new AbortController().signal);
  return text;
}

test.each([["shop"], [".home"], [".artifacts"]])("a link as %s does not show the owner's files", async (name) => {
  const { owner, files, link, sandboxes } = await openWorker();
  const apply = { agent, id: "1", isWhole: true };
  const planted = changes({ kind: "link", path: name, target: owner });
  const applied = link.request("sync.apply", apply, async (stream) => void stream.write(planted));
  // The worker refuses some of them at once; those that it takes are found when a sandbox is opened.
  if (name === ".home") {
    await expect(applied).rejects.toThrow("is not exchanged");
    symlinkSync(owner, join(files, name));
  } else await applied;
  const root = name === "shop" ? "shop" : "";
  await expect(link.request("sandbox.open", sandbox(root))).rejects.toThrow("outside of");
  await expect(sandboxes.open(sandbox(root))).rejects.toThrow("outside of");
});

test("commands end before files are exchanged, and none begin meanwhile", async () => {
  const { owner, files, link, sandboxes } = await openWorker();
  mkdirSync(join(files, "shop"));
  const workspace = await sandboxes.open(sandbox("shop"));
  expect(await output(workspace, `cat ${owner}/secret.txt; echo seen > made.txt; pwd`)).toContain("/workspace/shop");
  expect(readFileSync(join(files, "shop/made.txt"), "utf8")).toBe("seen\n");

  let finish = () => {};
  const applying = link.request("sync.apply", { agent, id: "1", isWhole: false }, async (stream) => {
    await new Promise<void>((resolve) => {
      finish = () => {
        stream.write(changes());
        resolve();
      };
    });
  });
  const { incarnation } = sandbox("shop");
  await expect.poll(() => sandboxes.describe(sandbox("shop")).incarnation).not.toBe(incarnation);
  await expect(link.request("sandbox.open", sandbox("shop", "two"))).rejects.toThrow("being exchanged");
  finish();
  (await applying).stream.destroy();
  const { stream } = await link.request("sandbox.open", sandbox("shop", "two"));
  stream.resume();
  stream.destroy();
  await once(stream, "close");
});

test.each([["name"], ["pool"], ["version"]])("a %s with control characters is not registered", (member) => {
  const registration = {
    ...{ linkVersion: 1, version: "1.0", workerId: "w", session: "s", name: "laptop", pool: "fast" },
    ...{ labels: { gpu: "none" }, workspaceRootPath: "/" },
  };
  expect(RegisterRequest.safeParse(registration).success).toBe(true);
  for (const text of ["a\u001b]52;c;eA==\u0007", "a\nb", "a\u202eb", "a\u200bb"]) {
    expect(RegisterRequest.safeParse({ ...registration, [member]: text }).success).toBe(false);
    expect(RegisterRequest.safeParse({ ...registration, labels: { [text]: "x" } }).success).toBe(false);
    expect(RegisterRequest.safeParse({ ...registration, labels: { x: [text] } }).success).toBe(false);
  }
});
