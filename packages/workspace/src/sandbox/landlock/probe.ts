// Finds out whether Landlock works on this machine, by restricting a process of our own.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import type { BackEnd, UnavailableBackEnd } from "../back-end.ts";
import { startConfined } from "../confined-process.ts";
import { sandboxPolicy } from "../policy.ts";
import { filterOf } from "../started-sandbox.ts";
import type { LaunchPlan } from "./launcher.ts";

/** The build puts it beside the server. */
export const launcherPath = (serverProgram: string): string => join(dirname(serverProgram), "landlock-launcher.cjs");

export async function probeLandlock({
  serverProgram,
}: {
  serverProgram: string;
}): Promise<BackEnd | UnavailableBackEnd> {
  const launcher = launcherPath(serverProgram);
  const filter = filterOf(sandboxPolicy({ mode: "read-only", root: "/" }), {
    internetSockets: "refused",
    ipc: "shared",
  });
  if (filter === undefined) return unavailable(`there is no system-call filter for ${process.arch}`, unfilteredRemedy);
  if (!existsSync(launcher)) return unavailable(`${launcher} is missing`, "Reinstall agentcli.");
  const rules = [{ path: "/", grant: "read" } as const];
  const plan: LaunchPlan = { rules, network: "off", filter: filter.toString("base64"), goal: { kind: "tell-version" } };
  const confined = startConfined({
    program: process.execPath,
    argv: [launcher],
    setup: Buffer.from(JSON.stringify(plan)),
  });
  let output = "";
  confined.stdout.on("data", (data: Buffer) => {
    output += data.toString();
  });
  await confined.end();
  const version = Number(output);
  if (version > 0) return { kind: "landlock", version };
  const explained = explainLauncherError(confined.stderr());
  if (explained === undefined)
    return unavailable(confined.stderr().trim() || "its launcher printed nothing", "Report this.");
  return { backEnd: "landlock", reason: explained.reason, remedy: explained.remedy };
}

const unfilteredRemedy = "Run on x86-64 or ARM64, or fix bubblewrap.";

const unavailable = (what: string, remedy: string): UnavailableBackEnd => ({
  backEnd: "landlock",
  reason: `Landlock does not work here: ${what}.`,
  remedy,
});

const remedies: { pattern: RegExp; what: string; remedy: string }[] = [
  {
    pattern: /Cannot find module '@koromix\/koffi/i,
    what: `the package @koromix/koffi-linux-${process.arch} is not installed`,
    remedy: `Install it beside agentcli: npm install @koromix/koffi-linux-${process.arch}.`,
  },
  {
    pattern: /Landlock version/,
    what: "the kernel does not support it, or only an older version",
    remedy: "Use Linux 6.2 or newer with landlock among its security modules (lsm=…,landlock).",
  },
];

/** The launcher reports by throwing, so its message is somewhere in a stack trace. */
export function explainLauncherError(stderr: string): SandboxUnavailable | undefined {
  const match = remedies.find(({ pattern }) => pattern.test(stderr));
  const sentence = match?.what ?? /^Error: (.*)\.$/m.exec(stderr)?.[1];
  if (sentence === undefined) return undefined;
  const remedy = match?.remedy ?? "Fix bubblewrap: see agentcli sandbox probe.";
  return new SandboxUnavailable(`Landlock does not work here: ${sentence}.`, remedy);
}
