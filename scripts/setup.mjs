// Makes a fresh clone ready: dependencies, system tools, build. Does only what is needed and is quiet when nothing is.
// Plain Node without dependencies: it runs before there are any.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { provideSystemTools } from "./system-tools.mjs";

const house = join(dirname(fileURLToPath(import.meta.url)), "..");

export async function setUp({ root = house, tools = provideSystemTools } = {}) {
  installDependencies(root);
  tools();
  build(root);
}

function installDependencies(root) {
  const lock = modifiedAt(join(root, "package-lock.json"));
  const installed = modifiedAt(join(root, "node_modules/.package-lock.json"));
  if (installed !== undefined && (lock === undefined || installed >= lock)) return;
  const verb = lock === undefined ? "install" : "ci";
  console.log(`Installing dependencies: npm ${verb}`);
  run(root, npm(), [...npmArguments(), verb, "--no-fund", "--no-audit", "--loglevel=error"]);
}

/** The npm that runs us, where there is one: another on the path may be of another Node. */
const npm = () => (process.env.npm_execpath ? process.execPath : "npm");
const npmArguments = () => (process.env.npm_execpath ? [process.env.npm_execpath] : []);

function build(root) {
  const stamp = join(root, "node_modules/.agentcli-build");
  const digest = digestOf(root);
  const isBuilt = existsSync(join(root, "packages/cli/dist"));
  if (isBuilt && existsSync(stamp) && readFileSync(stamp, "utf8") === digest) return;
  console.log("Building: node scripts/build.mjs");
  run(root, process.execPath, ["scripts/build.mjs"]);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, digest);
}

/** Changes when a source file comes, goes or is touched. Stamps, not contents: 600 files take 10 ms this way. */
function digestOf(root) {
  const hash = createHash("sha256");
  for (const path of ["package.json", "package-lock.json", "scripts/build.mjs"])
    hash.update(`${path} ${markOf(join(root, path))}\n`);
  for (const path of sourcesUnder(join(root, "packages"))) hash.update(`${path} ${markOf(path)}\n`);
  return hash.digest("hex");
}

const notSources = new Set(["node_modules", "dist", "test"]);

function sourcesUnder(folder) {
  if (!existsSync(folder)) return [];
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return notSources.has(entry.name) ? [] : sourcesUnder(path);
      return entry.isFile() ? [path] : [];
    });
}

function markOf(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.size} ${stats.mtimeMs}` : "none";
}

const modifiedAt = (path) => statSync(path, { throwIfNoEntry: false })?.mtimeMs;

function run(root, program, args) {
  const { status, error, signal } = spawnSync(program, args, { cwd: root, stdio: "inherit" });
  if (error) throw new Error(`${program} could not be started: ${error.message}`, { cause: error });
  if (status !== 0)
    throw new Error(`${program} ${args.join(" ")} failed (${signal ?? `exit code ${status}`}). Set-up stops here.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setUp();
