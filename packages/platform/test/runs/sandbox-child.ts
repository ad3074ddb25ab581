// Opens the sandbox of an agent, as a server would, and prints what a script in it prints, and whether its files exceed the
// limit of the disk.
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { watchDisk } from "../../src/foundation/files/index.ts";
import { agentPaths } from "../../src/runs/execution/agent-paths.ts";
import { agentLimits } from "../../src/runs/execution/sandbox/limits.ts";
import { openSandboxes } from "../../src/runs/execution/sandbox/sandboxes.ts";
import { testSettings } from "../harness/settings.ts";

const [dataDirectory = "", programDirectory = "", script = "", limits = "{}"] = process.argv.slice(2);
const name = `bc-${randomUUID()}`;
const root = join(dataDirectory, "workspaces", name, "workspace");
mkdirSync(root, { recursive: true });
const paths = agentPaths(dataDirectory, name);
const base = testSettings(dataDirectory);
const settings = { ...base, programDirectory, models: { ...base.models, limits: JSON.parse(limits) } };
const sandboxes = openSandboxes(settings);
const stop = new AbortController();
const disk = watchDisk({
  directory: paths.directory,
  maxBytes: agentLimits(settings).diskBytes ?? Number.POSITIVE_INFINITY,
  onExceeded() {
    process.stdout.write("disk limit exceeded\n");
    stop.abort();
  },
});
await disk.ready;
const { workspace } = await sandboxes.open({
  mode: "workspace-write",
  workspace: { root, repositories: [] },
  paths,
  variables: {},
  machine: null,
  socket: null,
  egress: {
    policy: { mode: "allow_all", source: "server", locked: false, allowed: ["*"] },
    name: "the egress policy",
    onDenied: () => {},
    onTraffic: () => {},
  },
});
const start = { argv: ["bash", "-c", script] };
const result = await workspace.exec({ id: "script", start }, ({ text }) => process.stdout.write(text), stop.signal);
disk.stop();
if (result.state !== "exited") process.stdout.write(JSON.stringify(result));
await workspace.close();
