// Prepares a fresh clone: dependencies, system tools, build. Does only what is needed and prints nothing otherwise.
// Uses Node alone: it runs before dependencies are installed.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findUnlocked } from "./locked.mjs";
import { provideSystemTools } from "./system-tools.mjs";

const ownRoot = join(dirname(fileURLToPath(import.meta.url)), "..");

export async function setUp({ root = ownRoot, tools = provideSystemTools } = {}) {
  installDependencies(root);
  tools();
  build(root);
}

/**
 * `npm install --no-save` verifies and follows the lock file like `npm ci`, but keeps what is installed already. It would add
 * what the lock file does not have, without a hash: that is refused here.
 */
function installDependencies(root) {
  const locked = createHash("sha256")
    .update(contentOf(join(root, "package-lock.json")))
    .digest("hex");
  const stamp = join(root, "node_modules/.agentcli-install");
  if (contentOf(stamp) === locked) return;
  const unlocked = findUnlocked(root);
  if (unlocked.length > 0) {
    console.error(
      `${unlocked.join("\n")}\nRun npm install, look at what it changed in package-lock.json and set up again.`,
    );
    process.exit(1);
  }
  console.log("Installing dependencies: npm install");
  run(root, npm(), [...npmArguments(), "install", "--no-save", "--no-fund", "--no-audit", "--loglevel=error"]);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, locked);
}

/** The npm that started this script, if any: the one on the path may belong to another Node. */
const npm = () => (process.env.npm_execpath ? process.execPath : "npm");
const npmArguments = () => (process.env.npm_execpath ? [process.env.npm_execpath] : []);

function build(root) {
  const stamp = join(root, "node_modules/.agentcli-build");
  const digest = digestOf(root);
  const built = ["cli", "platform", "sdk", "platform-sdk", "testkit"].filter((name) =>
    existsSync(join(root, "packages", name)),
  );
  const isBuilt = built.every((name) => existsSync(join(root, "packages", name, "dist")));
  // Beside other tests a build would take the programs away that they run.
  const isInUse = process.env.AGENTCLI_BUILT === root;
  if (isBuilt && (isInUse || contentOf(stamp) === digest)) return;
  console.log("Building: node scripts/build.mjs");
  run(root, process.execPath, ["scripts/build.mjs"]);
  mkdirSync(dirname(stamp), { recursive: true });
  writeFileSync(stamp, digest);
}

/** Changes when a source file is added, removed or modified. Times, not contents: 200 files took 8 ms cold. */
function digestOf(root) {
  const hash = createHash("sha256");
  for (const path of otherInputs) hash.update(`${path} ${fileStamp(join(root, path))}\n`);
  for (const path of ["packages", "docs"].flatMap((folder) => sourcesUnder(join(root, folder))))
    hash.update(`${path} ${fileStamp(path)}\n`);
  return hash.digest("hex");
}

/** What the build reads beside the sources of the packages. */
const otherInputs = [
  "package.json",
  "package-lock.json",
  "scripts/build.mjs",
  "scripts/build-web.mjs",
  "scripts/build-docs.mjs",
  "scripts/compile-chunk.mjs",
  "scripts/docs.css",
  "scripts/declarations.mjs",
  "packages/platform/test/harness/database.ts",
  "packages/platform/test/harness/database-program.ts",
];
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

function fileStamp(path) {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats ? `${stats.size} ${stats.mtimeMs}` : "none";
}

const contentOf = (path) => (existsSync(path) ? readFileSync(path, "utf8") : "");

function run(root, program, args) {
  const { status, error, signal } = spawnSync(program, args, { cwd: root, stdio: "inherit" });
  if (error) throw new Error(`${program} could not be started: ${error.message}`, { cause: error });
  if (status !== 0)
    throw new Error(`${program} ${args.join(" ")} failed (${signal ?? `exit code ${status}`}). Set-up stops here.`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await setUp();
