// Does Landlock work on this machine? Finds out by confining a process of ours.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BackEnd } from "../back-end.ts";
import { startConfined } from "../confined-process.ts";
import { filterOf } from "../enclosure.ts";
import { sandboxPolicy } from "../policy.ts";
import type { Shortfall } from "../probe.ts";
import { SandboxUnavailable } from "../sandbox-unavailable.ts";
import type { LaunchPlan } from "./launcher.ts";

/** It is built into the directory of the server. */
export const launcherBeside = (serverProgram: string): string => join(dirname(serverProgram), "landlock-launcher.cjs");

export async function tryLandlock({ serverProgram }: { serverProgram: string }): Promise<BackEnd | Shortfall> {
  const launcher = launcherBeside(serverProgram);
  const filter = filterOf(sandboxPolicy({ mode: "read-only", root: "/" }), "refused");
  if (filter === undefined) return fallsShort(`there is no system-call filter for ${process.arch}`, unfiltered);
  if (!existsSync(launcher)) return fallsShort(`${launcher} is missing`, "Reinstall agentcli.");
  const rules = [{ path: "/", grant: "read" } as const];
  const plan: LaunchPlan = { rules, network: "off", filter: filter.toString("base64"), goal: { kind: "tell-version" } };
  const confined = startConfined({
    program: process.execPath,
    argv: [launcher],
    given: Buffer.from(JSON.stringify(plan)),
  });
  let told = "";
  confined.stdout.on("data", (data: Buffer) => {
    told += data.toString();
  });
  await confined.end();
  const version = Number(told);
  if (version > 0) return { kind: "landlock", version };
  const explained = explainLauncher(confined.said());
  if (explained === undefined) return fallsShort(confined.said().trim() || "its launcher said nothing", "Report this.");
  return { backEnd: "landlock", reason: explained.reason, remedy: explained.remedy };
}

const unfiltered = "Run on x86-64 or ARM64, or make bubblewrap work.";

const fallsShort = (what: string, remedy: string): Shortfall => ({
  backEnd: "landlock",
  reason: `Landlock does not work here: ${what}.`,
  remedy,
});

const remedies: { sign: RegExp; what: string; remedy: string }[] = [
  {
    sign: /Cannot find module 'koffi'|Cannot find the native Koffi/i,
    what: "the package koffi is not installed",
    remedy: "Install it beside agentcli: npm install koffi.",
  },
  {
    sign: /Landlock version/,
    what: "the kernel does not offer it, or too old a version of it",
    remedy: "Use Linux 6.2 or newer with landlock among its security modules (lsm=…,landlock).",
  },
];

/** The launcher speaks by throwing, so its sentence is somewhere in a trace. */
export function explainLauncher(said: string): SandboxUnavailable | undefined {
  const known = remedies.find(({ sign }) => sign.test(said));
  const sentence = known?.what ?? /^Error: (.*)\.$/m.exec(said)?.[1];
  if (sentence === undefined) return undefined;
  const remedy = known?.remedy ?? "Make bubblewrap work: see agentcli sandbox probe.";
  return new SandboxUnavailable(`Landlock does not work here: ${sentence}.`, remedy);
}
