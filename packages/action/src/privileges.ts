// Takes root away from the user of the job, for good, before the agent runs.
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { userInfo } from "node:os";
import { StepError } from "./errors.ts";
import { readInputs } from "./inputs.ts";
import { asRoot, execute, findProgram, underSudo } from "./programs.ts";
import { log, reportWarning } from "./runner-files.ts";

type Variables = Record<string, string | undefined>;

export function reducePrivileges(variables: Variables): number {
  const { strategy, agentUser } = readInputs(variables);
  if (strategy === "unsafe")
    reportWarning("safety-strategy is unsafe: commands of the agent may become root and read the key.");
  if (strategy === "drop-sudo") dropSudo();
  if (strategy === "unprivileged-user") checkUser(agentUser);
  return 0;
}

function dropSudo(): void {
  const { username, uid } = userInfo();
  if (uid === 0)
    throw new StepError(
      "The job runs as root, which cannot be dropped. Set safety-strategy to unprivileged-user with agent-user, or to unsafe.",
    );
  if (!findProgram("sudo") || !mayBecomeRoot()) return void log(`${username} cannot use sudo: nothing to drop.`);
  const { ok, stdout, stderr } = execute(asRoot(process.execPath, process.argv[1] ?? "", "drop-root-access", username));
  process.stdout.write(stdout);
  if (!ok) throw new StepError(`sudo could not be taken away from ${username}: ${stderr.trim() || stdout.trim()}`);
  if (mayBecomeRoot())
    throw new StepError(`${username} can still use sudo. Another rule of the system grants it; use unprivileged-user.`);
  log(`${username} cannot use sudo any more, until the end of the job.`);
}

function mayBecomeRoot(): boolean {
  execute([findProgram("sudo") ?? "", "-K"]);
  return execute(asRoot(findProgram("true") ?? "")).ok;
}

function checkUser(name: string): void {
  const id = findProgram("id") ?? "";
  if (!execute([id, "-u", name]).ok)
    throw new StepError(`agent-user ${name} does not exist on this runner. Create it in an earlier step.`);
  if (execute([id, "-u", name]).stdout.trim() === "0")
    throw new StepError("agent-user is root. Set it to a user without privileges.");
  if (execute(underSudo(["-u", name], asRoot(findProgram("true") ?? ""))).ok)
    throw new StepError(`agent-user ${name} may use sudo itself. Set it to a user without privileges.`);
}

/** As root, in a process of its own. */
export function dropRootAccess(user: string): number {
  denyInSudoers(user);
  for (const group of rootGroups) leaveGroup(user, group);
  for (const socket of rootSockets) closeSocket(socket);
  rmSync(`/run/sudo/ts/${user}`, { force: true, recursive: true });
  restrictDebugging();
  return 0;
}

/** The last matching rule of sudoers decides, so this one does: over groups, aliases and included files. */
function denyInSudoers(user: string): void {
  const file = "/etc/sudoers";
  const rule = `${user} ALL=(ALL:ALL) !ALL`;
  const text = readFileSync(file, "utf8");
  replaceFile(
    file,
    `${text.replace(/\n*$/, "\n")}# Added by the workflow action of agentcli, until the end of this machine.\n${rule}\n`,
    (draft) => {
      const visudo = findProgram("visudo");
      const { ok, stderr, stdout } = visudo
        ? execute([visudo, "-c", "-q", "-f", draft])
        : { ok: true, stderr: "", stdout: "" };
      if (!ok) throw new StepError(`sudoers would be invalid: ${stderr}${stdout}`);
    },
  );
}

/** Members of these are root by other means. */
const rootGroups = ["sudo", "wheel", "admin", "docker", "lxd", "incus", "incus-admin", "disk", "libvirt", "kvm"];

function leaveGroup(user: string, group: string): void {
  const members = 3;
  for (const file of ["/etc/group", "/etc/gshadow"].filter((path) => existsSync(path))) {
    const text = readFileSync(file, "utf8");
    const changed = text.split("\n").map((line) => {
      const fields = line.split(":");
      if (fields[0] !== group || fields[members] === undefined) return line;
      fields[members] = fields[members]
        .split(",")
        .filter((member) => member !== user)
        .join(",");
      return fields.join(":");
    });
    if (changed.join("\n") !== text) replaceFile(file, changed.join("\n"));
  }
}

/** Processes that run keep their groups, so leaving one does not close these. */
const rootSockets = [
  "/run/docker.sock",
  "/var/run/docker.sock",
  "/run/containerd/containerd.sock",
  "/run/podman/podman.sock",
  "/run/incus/unix.socket",
  "/var/lib/lxd/unix.socket",
  "/var/snap/lxd/common/lxd/unix.socket",
];

function closeSocket(path: string): void {
  if (!existsSync(path) || lstatSync(path).isSymbolicLink() || !statSync(path).isSocket()) return;
  chownSync(path, 0, 0);
  chmodSync(path, 0o600);
}

/** The runner's worker holds secrets too, in a process of the same user. */
function restrictDebugging(): void {
  const file = "/proc/sys/kernel/yama/ptrace_scope";
  try {
    if (readFileSync(file, "utf8").trim() === "0") writeFileSync(file, "1");
  } catch {
    reportWarning(`${file} cannot be set: processes of this user can debug each other. Prefer unprivileged-user.`);
  }
}

/** With the same owner and mode; never half written. */
function replaceFile(file: string, text: string, check: (draft: string) => void = () => {}): void {
  const { uid, gid, mode } = statSync(file);
  const draft = `${file}.agentcli`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    chownSync(draft, uid, gid);
    chmodSync(draft, mode & 0o7777);
    check(draft);
    renameSync(draft, file);
  } finally {
    rmSync(draft, { force: true });
  }
}
