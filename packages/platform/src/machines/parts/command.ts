// Runs programs of the system to their end.
import { type ChildProcess, spawn } from "node:child_process";

/** Not the server's own: what runs here runs as root. */
const path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export interface CommandOptions {
  cwd?: string;
  /** What to do with its streams, before it ends. */
  attach?(child: ChildProcess): void;
}

/** Throws with its stderr if it fails. */
export async function run(argv: string[], { cwd = "/", attach }: CommandOptions = {}): Promise<string> {
  const [program = "", ...args] = argv;
  const child = spawn(program, args, { cwd, env: { PATH: path, LC_ALL: "C" }, stdio: ["pipe", "pipe", "pipe"] });
  let [stdout, stderr] = ["", ""];
  child.stdin.on("error", () => {});
  child.stderr.on("data", (data: Buffer) => {
    stderr = (stderr + data).slice(-4096);
  });
  if (attach) attach(child);
  else {
    child.stdin.end();
    child.stdout.on("data", (data: Buffer) => {
      stdout += data;
    });
  }
  const failure = await new Promise<string | null>((resolve) => {
    child.on("error", (error) => resolve(error.message));
    child.on("close", (code, signal) => resolve(code === 0 ? null : `${signal ?? `exit code ${code}`}`));
  });
  if (failure !== null) throw new Error(`${program} failed (${failure}): ${stderr.trim()}`);
  return stdout;
}

/** For a script of the shell. */
export const quote = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

/** Also what the server's user may not enter, but made through a machine. */
export async function removeTree(path: string): Promise<void> {
  const asRoot = process.geteuid?.() === 0 ? [] : ["unshare", "--user", "--map-root-user"];
  const command = [...asRoot, "rm", "-rf", "--", path];
  await run(command);
}
