// Installs the pinned CLI into a folder of this job, and what its sandbox needs.
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, realpathSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, isAbsolute, join, relative, sep } from "node:path";
import { StepError } from "./errors.ts";
import { inputOf, readInputs } from "./inputs.ts";
import { asRoot, execute, findProgram } from "./programs.ts";
import { log, reportWarning, setOutput } from "./runner-files.ts";

type Variables = Record<string, string | undefined>;

export function installCli(variables: Variables): number {
  const version = inputOf(variables, "agent-version");
  if (!/^[\w.:/+~-]+$/.test(version)) throw new StepError(`agent-version "${version}" is not a version of agentcli.`);
  const folder = mkdtempSync(join(variables.RUNNER_TEMP || tmpdir(), "agentcli-"));
  // Readable by the user who will run the agent.
  execute([findProgram("chmod") ?? "chmod", "755", folder]);
  const command = [
    process.execPath,
    findNpm(variables),
    "install",
    "--prefix",
    folder,
    "--no-audit",
    "--no-fund",
    `agentcli@${version}`,
  ];
  const { ok, stderr } = execute(command, { env: variables, cwd: folder });
  if (!ok) throw new StepError(`agentcli ${version} could not be installed: ${stderr.trim().slice(-2000)}`);
  log(`Installed agentcli ${version} in ${folder}.`);
  setOutput(variables, "program", join(folder, "node_modules/agentcli/bin/agentcli.cjs"));
  if (process.platform === "linux" && readInputs(variables).sandbox !== "danger-full-access") provideSandbox();
  return 0;
}

/** npm's own file, to be run by this very Node: on PATH there may be another, or none under sudo. */
export function findNpm({ PATH = "", GITHUB_WORKSPACE = "" }: Variables): string {
  const beside = join(dirname(process.execPath), "../lib/node_modules/npm/bin/npm-cli.js");
  const onPath = PATH.split(delimiter)
    .filter((folder) => isAbsolute(folder) && !isBelow(folder, GITHUB_WORKSPACE))
    .map((folder) => join(folder, "../lib/node_modules/npm/bin/npm-cli.js"));
  const onWindows = join(dirname(process.execPath), "node_modules/npm/bin/npm-cli.js");
  const onDebian = "/usr/share/nodejs/npm/bin/npm-cli.js";
  const found = [beside, onWindows, ...onPath, onDebian].find(isReadable);
  if (!found) throw new StepError("npm was not found beside Node. Add a step with actions/setup-node before this one.");
  return found;
}

/** An agent or a pull request may have written what is in the repository. */
function isBelow(folder: string, workspace: string): boolean {
  if (workspace === "" || !existsSync(folder)) return false;
  const path = relative(realpathSync(workspace), realpathSync(folder));
  return !isAbsolute(path) && path.split(sep)[0] !== "..";
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

/** Ubuntu's runners lack bubblewrap and forbid what it needs. Without it a run fails with a message of its own. */
function provideSandbox(): void {
  if (findProgram("bwrap") === undefined)
    tryAsRoot("bubblewrap", findProgram("apt-get"), "install", "-y", "--no-install-recommends", "bubblewrap");
  for (const [file, blocking, value] of settings)
    if (readText(file) === blocking) tryAsRoot(file, findProgram("sh"), "-c", `echo ${value} > ${file}`);
}

const settings = [
  ["/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "0"],
  ["/proc/sys/kernel/unprivileged_userns_clone", "0", "1"],
] as const;

function tryAsRoot(what: string, program: string | undefined, ...args: string[]): void {
  if (!program || !findProgram("sudo"))
    return void reportWarning(`${what} is missing, and the action cannot provide it.`);
  const { ok, stderr } = execute(asRoot(program, ...args));
  if (!ok) reportWarning(`${what} could not be set up for the sandbox: ${stderr.trim().slice(-500)}`);
}

function readText(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined; // Not a setting of this kernel.
  }
}
