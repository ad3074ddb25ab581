// Runs `install` in the machine of a build, with its output in the log as it comes.
import type { Workspace } from "@agentcli/protocol";
import type { Machine } from "../../machines/index.ts";
import { openMachineWorkspace } from "../../machines/index.ts";
import { machineVariables, markInstalled, projectRoot, shellCommand, workspaceDirectory } from "../machine-settings.ts";
import type { BuildLogger, BuildOrder } from "./executor.ts";
import { keepLeftFiles } from "./left-files.ts";
import type { BuildOutput } from "./output.ts";
import { openSecretScan } from "./secret-scan.ts";

export interface InstallRequest {
  machine: Machine;
  order: BuildOrder;
  /** Variables of the image. */
  env: Record<string, string>;
}

const timeoutMs = 2 * 3_600_000;

export interface Installed {
  /** Null where it succeeded; else why not. */
  failure: string | null;
  left: BuildOutput["left"];
}

/** What a failed one left is kept too. */
export async function install(request: InstallRequest, log: BuildLogger, signal: AbortSignal): Promise<Installed> {
  const { machine, order, env } = request;
  const { config, repositories, secrets } = order;
  if (config.install === undefined) return { failure: null, left: undefined };
  const supervisor = await machine.start({
    allowed: order.allowedHosts,
    denied: [],
    onDenied: ({ host, port, reason }) => log(`Blocked: ${host}:${port}. ${reason}\n`),
  });
  const given = Object.fromEntries(secrets.map(({ name, value }) => [name, value]));
  const variables = { ...machineVariables(env), ...given };
  const root = projectRoot(repositories);
  const workspace = await openMachineWorkspace(supervisor, { root, incarnation: machine.id, env: variables });
  const failure = await runInstall({ workspace, root, order }, log, signal);
  signal.throwIfAborted();
  return { failure, left: await keepLeftFiles({ workspace, tracked: await order.listFiles(signal) }, log, signal) };
}

interface InstallContext {
  workspace: Workspace;
  root: string;
  order: BuildOrder;
}

async function runInstall(
  { workspace, root, order: { config, secrets, contentKey } }: InstallContext,
  log: BuildLogger,
  signal: AbortSignal,
): Promise<string | null> {
  const { install: command = "", user = "root" } = config;
  const run = (id: string, argv: string[]) =>
    workspace.exec({ id, start: { argv, cwd: root, timeoutMs } }, ({ text }) => log(text), signal);
  if (user !== "root") {
    const owned = await run("owner", ["chown", "--recursive", `${user}:`, workspaceDirectory]);
    if (owned.state !== "exited" || owned.exitCode !== 0)
      return `The machine has no user ${user}. Create it in the Dockerfile, or remove "user" from environment.json.`;
  }
  const scan = await openSecretScan(workspace, secrets, signal);
  log(`$ ${command}\n`);
  const ended = await run("install", shellCommand(command, user));
  signal.throwIfAborted();
  if (ended.state !== "exited") return `install could not be run: ${"message" in ended ? ended.message : ended.state}`;
  if (ended.timedOut) return `install did not end within ${timeoutMs / 3_600_000} hours.`;
  if (ended.exitCode !== 0) return `install ended with ${ended.exitCode}`;
  await run("mark", markInstalled(contentKey));
  return scan();
}
