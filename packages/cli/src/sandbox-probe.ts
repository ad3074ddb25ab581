// What the sandbox can do here, tried out once per boot: trying costs more than the rest of a start.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { probeSandbox, type SandboxPolicy, type SandboxProbe } from "@agentcli/workspace";
import type { Environment } from "./environment.ts";

/** Only a success is remembered: whoever has just installed what was missing wants to go on at once. */
export async function knownProbe(policy: SandboxPolicy, environment: Environment): Promise<SandboxProbe> {
  if (policy.mode === "danger-full-access") return { kind: "unavailable", reason: "not used", remedy: "" };
  const path = join(environment.agentHome, "cache", "sandbox.json");
  const key = probeKey(environment);
  const remembered = recall(path, key);
  if (remembered) return remembered;
  const probe = await probeSandbox({
    path: environment.variables.PATH ?? "",
    untrusted: [policy.root, ...policy.writableRoots],
  });
  if (probe.kind === "available" && key) remember(path, key, probe);
  return probe;
}

/** Another boot, another user or another PATH may see another sandbox. */
function probeKey({ variables }: Environment): string | null {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    return `${boot} ${process.geteuid?.()} ${variables.PATH}`;
  } catch {
    return null;
  }
}

function recall(path: string, key: string | null): SandboxProbe | null {
  try {
    const { key: known, probe } = JSON.parse(readFileSync(path, "utf8"));
    return known === key && probe?.kind === "available" && typeof probe.program === "string" ? probe : null;
  } catch {
    return null;
  }
}

/** A home that cannot be written only costs the next start some milliseconds. */
function remember(path: string, key: string, probe: SandboxProbe): void {
  try {
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
    const draft = `${path}.${process.pid}`;
    writeFileSync(draft, JSON.stringify({ key, probe }), { mode: 0o600 });
    renameSync(draft, path);
  } catch {
    return;
  }
}
