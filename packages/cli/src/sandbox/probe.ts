// Which sandbox works here, tried out once per boot: trying costs more than the rest of a start.
import {
  copyFileSync,
  existsSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { makePrivateDirectory } from "@agentcli/host";
import {
  findProgram,
  type ProgramSearch,
  probeSandbox,
  type SandboxPolicy,
  type SandboxProbe,
} from "@agentcli/workspace";
import type { Program } from "../program.ts";

type Available = Extract<SandboxProbe, { kind: "available" }>;

/** Only a success is cached: after installing what was missing, the next run must see it. */
export async function knownProbe(policy: SandboxPolicy, program: Program): Promise<SandboxProbe> {
  if (policy.mode === "danger-full-access") return { kind: "unavailable", reason: "not used", remedy: "" };
  const { agentHome, variables } = program.environment;
  const path = cachedProbe(agentHome);
  const key = probeKey(variables.PATH ?? "");
  const remembered = recall(path, key);
  if (remembered && isUsable(remembered, searchOf(policy, program))) return remembered;
  const probe = await freshProbe(policy, program);
  if (probe.kind === "available" && key) remember(path, key, probe);
  return probe;
}

const cachedProbe = (agentHome: string): string => join(agentHome, "cache", "sandbox.json");

/** Another agent home of the same user need not try it out again. */
export function shareProbe(agentHome: string, other: string): void {
  if (!existsSync(cachedProbe(agentHome))) return;
  makePrivateDirectory(dirname(cachedProbe(other)));
  copyFileSync(cachedProbe(agentHome), cachedProbe(other));
}

type Roots = Pick<SandboxPolicy, "root" | "writableRoots">;

export const freshProbe = (policy: Roots, program: Program): Promise<SandboxProbe> =>
  probeSandbox({ ...searchOf(policy, program), serverProgram: serverProgramIn(program.directory) });

/** Another run may have found a bubblewrap that this one must not use. */
const isUsable = ({ backEnd }: Available, search: ProgramSearch): boolean =>
  backEnd.kind !== "bubblewrap" || findProgram("bwrap", search) === backEnd.program;

function searchOf({ root, writableRoots }: Roots, { environment: { programs } }: Program): ProgramSearch {
  programs.distrust([root, ...writableRoots]);
  return programs.search();
}

export const serverProgramIn = (directory: string): string => join(directory, "workspace-server.cjs");

/** Settings of the kernel that decide over user namespaces; each exists on some systems only. */
const settings = [
  "/proc/sys/kernel/unprivileged_userns_clone",
  "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
  "/proc/sys/user/max_user_namespaces",
];

/** Whatever could make another sandbox work, or this one not: another boot, user, container, PATH, bubblewrap, setting. */
function probeKey(path: string): string | null {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    const confinement = readFileSync("/proc/self/status", "utf8").match(/^(CapEff|NoNewPrivs|Seccomp):.*$/gm);
    const namespaces = ["user", "mnt"].map((name) => readlinkSync(`/proc/self/ns/${name}`));
    return JSON.stringify([
      boot,
      process.geteuid?.(),
      ...namespaces,
      confinement,
      settings.map(readSetting),
      path,
      bubblewrapsOn(path),
    ]);
  } catch {
    return null;
  }
}

const bubblewrapsOn = (path: string): number[] =>
  path.split(delimiter).flatMap((directory) => changeOf(join(directory, "bwrap")));

/** Nothing where there is no such file, or none that we may see. */
function changeOf(path: string): number[] {
  try {
    const stats = statSync(path, { throwIfNoEntry: false });
    return stats === undefined ? [] : [stats.mtimeMs];
  } catch {
    return [];
  }
}

function readSetting(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return "";
  }
}

function recall(path: string, key: string | null): Available | null {
  try {
    const { key: known, probe } = JSON.parse(readFileSync(path, "utf8"));
    return key !== null && known === key && isAvailable(probe) ? probe : null;
  } catch {
    return null;
  }
}

/** The file may have been written by an older version of this program. */
const isAvailable = (probe: Partial<Available> | undefined): probe is Available =>
  probe?.kind === "available" && typeof probe.backEnd?.kind === "string" && Array.isArray(probe.shortfalls);

/** A home that cannot be written only costs the next start some milliseconds. */
function remember(path: string, key: string, probe: Available): void {
  try {
    makePrivateDirectory(dirname(path));
    replaceFile(path, JSON.stringify({ key, probe }));
  } catch {
    return;
  }
}

function replaceFile(path: string, text: string): void {
  const draft = `${path}.${process.pid}`;
  try {
    writeFileSync(draft, text, { mode: 0o600 });
    renameSync(draft, path);
  } finally {
    rmSync(draft, { force: true });
  }
}
