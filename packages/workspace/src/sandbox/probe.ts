// Finds the first back end that works on this machine; for each before it: why it does not, and what to do.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { explainLimit, explainOutput } from "@agentcli/protocol/system-errors";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import type { ProgramSearch } from "../programs/index.ts";
import type { BackEnd, UnavailableBackEnd } from "./back-end.ts";
import { bubblewrapArguments, privateMounts, userProgram } from "./bubblewrap/arguments.ts";
import { explainBubblewrapFailure, findBubblewrap } from "./bubblewrap/find.ts";
import { probeLandlock } from "./landlock/probe.ts";

export type SandboxProbe =
  | { kind: "available"; backEnd: BackEnd; shortfalls: UnavailableBackEnd[] }
  | { kind: "unavailable"; reason: string; remedy: string };

export interface ProbeOptions extends ProgramSearch {
  /** The built server; the Landlock launcher is beside it. */
  serverProgram: string;
}

const probeTimeoutMs = 10_000;
const seatbeltProgram = "/usr/bin/sandbox-exec";

export async function probeSandbox(options: ProbeOptions): Promise<SandboxProbe> {
  const shortfalls: UnavailableBackEnd[] = [];
  for (const probe of backEndProbes(process.platform)) {
    const result = await probe(options);
    if ("kind" in result) return { kind: "available", backEnd: result, shortfalls };
    shortfalls.push(result);
  }
  if (shortfalls.length === 0) return unsupportedPlatform(process.platform);
  return {
    kind: "unavailable",
    reason: shortfalls.map(({ reason }) => reason).join(" "),
    remedy: shortfalls[0]?.remedy ?? "",
  };
}

/** Every back end, also after the first that works. */
export const probeAllBackEnds = (options: ProbeOptions): Promise<(BackEnd | UnavailableBackEnd)[]> =>
  Promise.all(backEndProbes(process.platform).map((probe) => probe(options)));

type BackEndProbe = (options: ProbeOptions) => Promise<BackEnd | UnavailableBackEnd>;

function backEndProbes(platform: string): BackEndProbe[] {
  if (platform === "linux") return [probeBubblewrap, probeLandlock];
  return platform === "darwin" ? [probeSeatbelt] : [];
}

const unsupportedPlatform = (platform: string): SandboxProbe => ({
  kind: "unavailable",
  reason: `There is no sandbox for ${platform}.`,
  remedy: "Run on Linux or macOS, or use danger-full-access in a disposable container or machine.",
});

async function probeBubblewrap(options: ProbeOptions): Promise<BackEnd | UnavailableBackEnd> {
  try {
    const program = findBubblewrap(options);
    const failure = await bubblewrapFailure(program, "own");
    if (failure === undefined) return { kind: "bubblewrap", program, processes: "own" };
    const isMasked = (await bubblewrapFailure(program, "shared")) === undefined;
    if (isMasked) return { kind: "bubblewrap", program, processes: "shared" };
    return { backEnd: "bubblewrap", ...explainBubblewrapFailure(failure) };
  } catch (error) {
    if (!(error instanceof SandboxUnavailable)) throw error;
    return { backEnd: "bubblewrap", reason: error.reason, remedy: error.remedy };
  }
}

/** Its error output if it fails. */
async function bubblewrapFailure(
  program: string,
  processes: "own" | "shared",
  userId: number | null = null,
): Promise<string | undefined> {
  const plan = {
    root: "/",
    network: "off",
    nestedSandboxes: "refused",
    processes,
    userId,
    placement: null,
    mounts: privateMounts({ euid: process.geteuid?.() ?? 0 }),
  } as const;
  const { code, stderr } = await runProgram(
    program,
    bubblewrapArguments(plan, { argv: ["true"], seccompDescriptor: undefined }),
  );
  return code === 0 ? undefined : stderr || `it exited with code ${code}`;
}

/** Why commands cannot run as another user than this process; undefined if they can. */
export async function probeOtherUser(backEnd: BackEnd, userId: number): Promise<string | undefined> {
  if (backEnd.kind !== "bubblewrap") return `${backEnd.kind} cannot change the user`;
  if (process.geteuid?.() !== 0) return "only root can change the user";
  if (!existsSync(userProgram)) return `${userProgram} (of util-linux) is not installed`;
  return (await bubblewrapFailure(backEnd.program, backEnd.processes, userId))?.trim();
}

async function probeSeatbelt(): Promise<BackEnd | UnavailableBackEnd> {
  const remedy = "Use danger-full-access on a disposable machine.";
  if (!existsSync(seatbeltProgram)) return { backEnd: "seatbelt", reason: `There is no ${seatbeltProgram}.`, remedy };
  const { code, stderr } = await runProgram(seatbeltProgram, ["-p", "(version 1)(allow default)", "/usr/bin/true"]);
  if (code === 0) return { kind: "seatbelt", program: seatbeltProgram };
  return { backEnd: "seatbelt", reason: `${seatbeltProgram} does not work here: ${stderr.trim()}.`, remedy };
}

function runProgram(program: string, argv: string[]): Promise<{ code: number | null; stderr: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, argv, {
      stdio: ["ignore", "ignore", "pipe"],
      // No variable makes it load code.
      env: {},
      timeout: probeTimeoutMs,
      killSignal: "SIGKILL",
    });
    let stderr = "";
    // There is no stream where the process could not be started for want of descriptors.
    child.stderr?.on("data", (data: Buffer) => {
      stderr += data.toString();
    });
    child.on("error", (error) => resolve({ code: null, stderr: explainLimit(error) ?? error.message }));
    child.on("close", (code) => resolve({ code, stderr: (code !== 0 && explainOutput(stderr)) || stderr }));
  });
}
