// The Python SDK under pytest and mypy, in a virtual environment that is kept between runs.
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { beforeAll, expect, test } from "vitest";

const project = fileURLToPath(new URL(".", import.meta.url));
const cache = fileURLToPath(new URL("../../node_modules/.cache", import.meta.url));
const tools = ["pytest==9.2.0", "pytest-timeout==2.4.0", "mypy==2.4.1", "hatchling==1.33.0"];
const minutes = 60_000;

let python: string;
beforeAll(async () => {
  python = await environment();
}, 5 * minutes);

test("the suite passes against the real program", { timeout: 10 * minutes }, async () => {
  await run(python, ["-m", "pytest", "--timeout=120", "-p", "no:cacheprovider"]);
});

test("mypy finds nothing in strict mode", { timeout: 5 * minutes }, async () => {
  const said = await run(python, ["-m", "mypy", "--cache-dir", join(cache, "agentcli-mypy")]);
  expect(said).toContain("no issues found");
});

/** Made aside and put in place when it is whole: a half-made one is never taken for ready. */
async function environment(): Promise<string> {
  const version = await run("python3", ["--version"]);
  const name = createHash("sha256")
    .update(`${version} ${tools.join(" ")}`)
    .digest("hex")
    .slice(0, 16);
  const place = join(cache, `agentcli-python-${name}`);
  if (!existsSync(place)) {
    const made = `${place}.${process.pid}`;
    mkdirSync(cache, { recursive: true });
    await run("python3", ["-m", "venv", made]);
    await run(join(made, "bin/python"), ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", ...tools]);
    rmSync(place, { recursive: true, force: true });
    renameSync(made, place);
  }
  return join(place, "bin/python");
}

/** What it printed; when it fails, that is the error. */
async function run(program: string, args: string[]): Promise<string> {
  try {
    const env = { ...process.env, PYTHONDONTWRITEBYTECODE: "1" };
    const { stdout } = await promisify(execFile)(program, args, { cwd: project, env, maxBuffer: 64 * 1024 * 1024 });
    return stdout;
  } catch (error) {
    // Not as the cause: it would show all of it a second time.
    const { stdout = "", stderr = "" } = error as { stdout?: string; stderr?: string };
    const advice = program === "python3" ? "Needed: apt-get install -y python3-venv, and a package index for pip." : "";
    throw new Error(`${program} ${args.join(" ")} failed. ${advice}\n${stdout}${stderr}`);
  }
}
