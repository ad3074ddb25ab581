// Is bubblewrap there, and does it work on this machine? If not: why, and what to do.
import { spawn } from "node:child_process";
import { accessSync, constants, realpathSync } from "node:fs";
import { delimiter, join } from "node:path";
import { bubblewrapArguments, privateMounts } from "./bubblewrap.ts";
import { contains } from "./plan.ts";
import { SandboxUnavailable } from "./sandbox-unavailable.ts";

export type SandboxProbe =
  | { kind: "available"; program: string }
  | { kind: "unavailable"; reason: string; remedy: string };

export interface Surroundings {
  /** Where programs are looked for. */
  path: string;
  /** A program in here is not trusted: the model may have written it. */
  untrusted: string[];
}

const probeLimitMs = 10_000;

export async function probeSandbox(surroundings: Surroundings): Promise<SandboxProbe> {
  try {
    const program = findBubblewrap(surroundings);
    const failure = await tryOut(program);
    if (failure === undefined) return { kind: "available", program };
    return { kind: "unavailable", ...explainFailure(failure) };
  } catch (error) {
    if (!(error instanceof SandboxUnavailable)) throw error;
    const reason = error.message.slice(0, -error.remedy.length).trim();
    return { kind: "unavailable", reason, remedy: error.remedy };
  }
}

export function findBubblewrap({ path, untrusted }: Surroundings): string {
  if (process.platform !== "linux") {
    throw new SandboxUnavailable(
      `There is no sandbox for ${process.platform} yet.`,
      "Run on Linux, or use danger-full-access inside a container or machine you can lose.",
    );
  }
  const places = path.split(delimiter).filter((place) => place.startsWith("/"));
  for (const place of places) {
    const program = resolveProgram(join(place, "bwrap"));
    if (program !== undefined && !untrusted.some((root) => contains(root, program))) return program;
  }
  throw new SandboxUnavailable(
    "The program bwrap (bubblewrap) was not found on PATH.",
    "Install it: apt-get install bubblewrap (Debian, Ubuntu) or dnf install bubblewrap (Fedora).",
  );
}

function resolveProgram(path: string): string | undefined {
  try {
    accessSync(path, constants.X_OK);
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** What it said when it failed. */
function tryOut(program: string): Promise<string | undefined> {
  const plan = {
    root: "/",
    network: "off",
    nestedSandboxes: "refused",
    mounts: privateMounts(process.geteuid?.() ?? 0),
  } as const;
  const argv = bubblewrapArguments(plan, { argv: ["true"], seccompDescriptor: undefined });
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
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code) => resolve(code === 0 ? undefined : said || `it exited with code ${code}`));
  });
}

const remedies: { sign: RegExp; remedy: string }[] = [
  {
    sign: /[Uu]nknown option|usage:/,
    remedy: "Install bubblewrap 0.8 or newer.",
  },
  {
    sign: /proc/,
    remedy: "In a container, unmask /proc: docker run --security-opt systempaths=unconfined.",
  },
  {
    sign: /namespace|uid map|setting up|permission|not permitted/i,
    remedy:
      "Allow user namespaces: sysctl -w kernel.unprivileged_userns_clone=1 kernel.apparmor_restrict_unprivileged_userns=0, " +
      "or in a container docker run --security-opt seccomp=unconfined.",
  },
];

export function explainFailure(said: string): { reason: string; remedy: string } {
  const known = remedies.find(({ sign }) => sign.test(said));
  return {
    reason: `bubblewrap does not work here: ${said.trim()}.`,
    remedy: known?.remedy ?? "See what it said, or use danger-full-access inside a container or machine you can lose.",
  };
}
