// Builds environments in directories of the host, with real processes: in place of machines, for tests only.
import { spawn } from "node:child_process";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** As the platform declares it. */
export interface ExecutedOrder {
  buildId: string;
  config: { install?: string | undefined };
  repositories: { name: string }[];
  secrets: { name: string; value: string }[];
  checkOut(directory: string, signal: AbortSignal): Promise<void>;
}

export type ExecutedOutcome =
  | { status: "succeeded"; output: string }
  | { status: "failed"; failure: { type: "INSTALL_FAILED" } };

export interface DirectoryExecutor {
  execute(order: ExecutedOrder, log: (text: string) => void, signal: AbortSignal): Promise<ExecutedOutcome>;
  discard(buildId: string): Promise<void>;
  /** Builds whose directories are there. */
  list(): Promise<string[]>;
  /** The builds in the order in which they began. */
  begun: string[];
}

/** `breakAt`: where a build has come that far, the machine itself fails, or the disk is full. */
export function openDirectoryExecutor(
  parent: string,
  { breakAt }: { breakAt?: "checkout" | "full disk" } = {},
): DirectoryExecutor {
  const begun: string[] = [];
  const directoryOf = (buildId: string): string => join(parent, buildId);
  return {
    begun,
    async execute({ buildId, config, repositories, secrets, checkOut }, log, signal) {
      begun.push(buildId);
      const directory = directoryOf(buildId);
      await mkdir(directory, { recursive: true });
      log("Checking out\n");
      if (breakAt === "checkout") throw new Error("the disk of the machine is gone");
      if (breakAt === "full disk") await writeFile("/dev/full", "files");
      await checkOut(directory, signal);
      const [first, ...others] = repositories;
      const root = first && others.length === 0 ? join(directory, first.name) : directory;
      if (config.install === undefined) return { status: "succeeded", output: directory };
      log(`$ ${config.install}\n`);
      const given = Object.fromEntries(secrets.map(({ name, value }) => [name, value]));
      const code = await run(config.install, { root, log, given }, signal);
      if (code === 0) return { status: "succeeded", output: directory };
      log(`install ended with ${code}\n`);
      return { status: "failed", failure: { type: "INSTALL_FAILED" } };
    },
    discard: (buildId) => rm(directoryOf(buildId), { recursive: true, force: true }),
    list: () => readdir(parent),
  };
}

function run(
  command: string,
  { root, log, given }: { root: string; log: (text: string) => void; given: Record<string, string> },
  signal: AbortSignal,
): Promise<number> {
  const env = { ...process.env, ...given };
  const child = spawn("sh", ["-c", command], { cwd: root, env, detached: true, stdio: ["ignore", "pipe", "pipe"] });
  const stop = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGKILL");
  };
  signal.addEventListener("abort", stop);
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => log(text));
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      signal.removeEventListener("abort", stop);
      resolve(code ?? -1);
    });
  });
}
