// Opens the sandbox of an agent, as a server would, and prints what a script in it prints.
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { openSandboxes } from "../../src/runs/execution/sandbox/sandboxes.ts";
import { testSettings } from "../harness/settings.ts";

const [dataDirectory = "", programDirectory = "", script = ""] = process.argv.slice(2);
const agentDirectory = join(dataDirectory, "workspaces", `bc-${randomUUID()}`);
const root = join(agentDirectory, "workspace");
mkdirSync(root, { recursive: true });
const sandboxes = openSandboxes({ ...testSettings(dataDirectory), programDirectory });
const { workspace } = await sandboxes.open({
  mode: "workspace-write",
  workspace: { root, repositories: [] },
  agentDirectory,
  variables: {},
});
const start = { argv: ["bash", "-c", script], timeoutMs: 60_000 };
const result = await workspace.exec(
  { id: "script", start },
  ({ text }) => process.stdout.write(text),
  new AbortController().signal,
);
if (result.state !== "exited") process.stdout.write(JSON.stringify(result));
await workspace.close();
