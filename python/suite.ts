// Runs a Python project's tests in a virtual environment that is kept between runs.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const cache = fileURLToPath(new URL("../node_modules/.cache", import.meta.url));
const tools = ["pytest==9.2.0", "pytest-timeout==2.4.0", "mypy==2.4.1", "hatchling==1.33.0"];

/** Runs a module of the environment in the project's folder and gives back what it printed. */
export type RunModule = (module: string, ...args: string[]) => Promise<string>;

export async function openSuite(project: string): Promise<RunModule> {
  const python = await environment(project);
  return (module, ...args) => run(python, ["-m", module, ...args], project);
}

export const mypyCache = (name: string): string => join(cache, `${name}-mypy`);

/** Made aside and put in place when it is whole: a half-made one is never taken for ready. */
async function environment(project: string): Promise<string> {
  const version = await run("python3", ["--version"], project);
  const name = createHash("sha256")
    .update(`${version} ${tools.join(" ")}`)
    .digest("hex")
    .slice(0, 16);
  const place = join(cache, `agentcli-python-${name}`);
  if (!existsSync(place)) {
    const made = `${place}.${process.pid}`;
    const pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...tools];
    mkdirSync(cache, { recursive: true });
    await run("python3", ["-m", "venv", made], project);
    await run(join(made, "bin/python"), pip, project);
    // Another suite may have been as quick; theirs does as well.
    if (existsSync(place)) rmSync(made, { recursive: true, force: true });
    else renameSync(made, place);
  }
  return join(place, "bin/python");
}

/** What it printed; when it fails, that is the error. */
async function run(program: string, args: string[], cwd: string): Promise<string> {
  try {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
    const { stdout } = await promisify(execFile)(program, args, { cwd, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    // Not as the cause: it would show all of it a second time.
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const advice = program === "python3" ? "Needed: apt-get install -y python3-venv, and a package index for pip." : "";
    throw new Error(`${program} ${args.join(" ")} failed. ${advice}\n${stdout}${stderr}`);
  }
}
