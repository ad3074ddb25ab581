// Runs the tests of a Python project in a virtual environment that is reused between runs.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const cache = fileURLToPath(new URL("../node_modules/.cache", import.meta.url));
const tools = ["pytest==9.2.0", "pytest-timeout==2.4.0", "mypy==2.4.1", "hatchling==1.33.0"];

/** Runs a Python module in the folder of the project and returns its standard output. */
export type RunModule = (module: string, ...args: string[]) => Promise<string>;

export async function openSuite(project: string): Promise<RunModule> {
  const python = await environment(project);
  return (module, ...args) => run(python, ["-m", module, ...args], project);
}

export const mypyCache = (name: string): string => join(cache, `${name}-mypy`);

/** Built under a temporary name and renamed when complete, so that an incomplete one is never used. */
async function environment(project: string): Promise<string> {
  const version = await run("python3", ["--version"], project);
  const name = createHash("sha256")
    .update(`${version} ${tools.join(" ")}`)
    .digest("hex")
    .slice(0, 16);
  const directory = join(cache, `agentcli-python-${name}`);
  if (!existsSync(directory)) {
    const building = `${directory}.${process.pid}`;
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...tools];
    mkdirSync(cache, { recursive: true });
    await run("python3", ["-m", "venv", building], project);
    await run(join(building, "bin/python"), pip, project);
    // Another suite may have finished first.
    if (existsSync(directory)) rmSync(building, { recursive: true, force: true });
    else renameSync(building, directory);
  }
  return join(directory, "bin/python");
}

/** Returns standard output; a failure is an error with the whole output. */
async function run(program: string, args: string[], cwd: string): Promise<string> {
  try {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
    const { stdout } = await promisify(execFile)(program, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    // No `cause`: it would repeat the output.
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const advice =
      program === "python3"
        ? "It needs python3-venv (apt-get install -y python3-venv) and a package index for pip."
        : "";
    throw new Error(`${program} ${args.join(" ")} failed. ${advice}\n${stdout}${stderr}`);
  }
}
