// Which back end works on this machine? The first of the ladder that does; for each above it: why not, and what to do.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import type { BackEnd } from "./back-end.ts";
import { bubblewrapArguments, privateMounts } from "./bubblewrap.ts";
import { explainFailure, findBubblewrap } from "./find-bubblewrap.ts";
import { tryLandlock } from "./landlock/try.ts";
import { SandboxUnavailable } from "./sandbox-unavailable.ts";
import { seatbeltProgram } from "./seatbelt.ts";

/** A rung of the ladder that does not bear. */
export interface Shortfall {
  backEnd: "bubblewrap" | "landlock" | "seatbelt";
  reason: string;
  remedy: string;
}

export type SandboxProbe =
  | { kind: "available"; backEnd: BackEnd; shortfalls: Shortfall[] }
  | { kind: "unavailable"; reason: string; remedy: string };

export interface Surroundings {
  /** Where programs are looked for. */
  path: string;
  /** A program in here is not trusted: the model may have written it. */
  untrusted: string[];
  /** The built server; the launcher of Landlock lies beside it. */
  serverProgram: string;
}

const probeLimitMs = 10_000;

export async function probeSandbox(surroundings: Surroundings): Promise<SandboxProbe> {
  const shortfalls: Shortfall[] = [];
  for (const tryOut of ladder(process.platform)) {
    const tried = await tryOut(surroundings);
    if ("kind" in tried) return { kind: "available", backEnd: tried, shortfalls };
    shortfalls.push(tried);
  }
  if (shortfalls.length === 0) return unknownSystem(process.platform);
  return {
    kind: "unavailable",
    reason: shortfalls.map(({ reason }) => reason).join(" "),
    remedy: shortfalls[0]?.remedy ?? "",
  };
}

/** Every rung, also those below the first that bears. */
export const probeEveryRung = (surroundings: Surroundings): Promise<(BackEnd | Shortfall)[]> =>
  Promise.all(ladder(process.platform).map((tryOut) => tryOut(surroundings)));

type TryOut = (surroundings: Surroundings) => Promise<BackEnd | Shortfall>;

function ladder(platform: string): TryOut[] {
  if (platform === "linux") return [tryBubblewrap, tryLandlock];
  return platform === "darwin" ? [trySeatbelt] : [];
}

const unknownSystem = (platform: string): SandboxProbe => ({
  kind: "unavailable",
  reason: `There is no sandbox for ${platform}.`,
  remedy: "Run on Linux or macOS, or use danger-full-access inside a container or machine you can lose.",
});

async function tryBubblewrap(surroundings: Surroundings): Promise<BackEnd | Shortfall> {
  try {
    const program = findBubblewrap(surroundings);
    const failure = await failureOf(program, "own");
    if (failure === undefined) return { kind: "bubblewrap", program, processes: "own" };
    const isMasked = (await failureOf(program, "shared")) === undefined;
    if (isMasked) return { kind: "bubblewrap", program, processes: "shared" };
    return { backEnd: "bubblewrap", ...explainFailure(failure) };
  } catch (error) {
    if (!(error instanceof SandboxUnavailable)) throw error;
    return { backEnd: "bubblewrap", reason: error.reason, remedy: error.remedy };
  }
}

/** What it said when it failed. */
async function failureOf(program: string, processes: "own" | "shared"): Promise<string | undefined> {
  const plan = {
    root: "/",
    network: "off",
    nestedSandboxes: "refused",
    processes,
    mounts: privateMounts(process.geteuid?.() ?? 0),
  } as const;
  const { code, said } = await runToEnd(
    program,
    bubblewrapArguments(plan, { argv: ["true"], seccompDescriptor: undefined }),
  );
  return code === 0 ? undefined : said || `it exited with code ${code}`;
}

async function trySeatbelt(): Promise<BackEnd | Shortfall> {
  const remedy = "Use danger-full-access inside a machine you can lose.";
  if (!existsSync(seatbeltProgram)) return { backEnd: "seatbelt", reason: `There is no ${seatbeltProgram}.`, remedy };
  const { code, said } = await runToEnd(seatbeltProgram, ["-p", "(version 1)(allow default)", "/usr/bin/true"]);
  if (code === 0) return { kind: "seatbelt", program: seatbeltProgram };
  return { backEnd: "seatbelt", reason: `${seatbeltProgram} does not work here: ${said.trim()}.`, remedy };
}

function runToEnd(program: string, argv: string[]): Promise<{ code: number | null; said: string }> {
  return new Promise((resolve) => {
    const child = spawn(program, argv, {
      stdio: ["ignore", "ignore", "pipe"],
      timeout: probeLimitMs,
      killSignal: "SIGKILL",
    });
    let said = "";
    child.stderr.on("data", (data: Buffer) => {
      said += data.toString();
    });
    child.on("error", (error) => resolve({ code: null, said: error.message }));
    child.on("close", (code) => resolve({ code, said }));
  });
}
