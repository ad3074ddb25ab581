// Makes everything that a release consists of, without publishing it: `npm run release:dry [-- --out DIR --parts npm,man --arch x64]`.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { writeBillOfMaterials } from "./release/bill-of-materials.mjs";
import { listRelease, writeChecksums } from "./release/checksums.mjs";
import { architectures, writeExecutable } from "./release/executable.mjs";
import { writeManPages } from "./release/man-pages.mjs";
import { provenanceFile, writeProvenance } from "./release/provenance.mjs";
import { setUp } from "./setup.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");
const packages = ["cli", "platform", "worker", "sdk", "platform-sdk"];
const programs = {
  agentcli: "packages/cli/bin/agentcli.cjs",
  platform: "packages/platform/bin/platform.mjs",
  agent: "packages/worker/bin/agent.cjs",
};

const parts = {
  npm: (out) => {
    for (const name of packages) run("npm", ["pack", "--pack-destination", out], `packages/${name}`);
  },
  python: (out) => {
    const venv = join(root, "node_modules/.cache/release-python");
    run("python3", ["-m", "venv", venv]);
    for (const name of ["agentcli", "platform_sdk"])
      run(join(venv, "bin/pip"), ["wheel", "--quiet", "--no-deps", "--wheel-dir", out, `python/${name}`]);
  },
  man: (out) => {
    for (const [name, path] of Object.entries(programs))
      writeManPages(out, name, (...args) => runProgram(path, ...args));
  },
  completions: (out) => {
    for (const shell of ["bash", "zsh", "fish"])
      writeFileSync(join(out, `agentcli.${shell}`), runProgram(programs.agentcli, "completion", shell));
  },
  sbom: (out) => writeBillOfMaterials(root, packages, out),
  executable: async (out) => {
    for (const architecture of values.arch?.split(",") ?? architectures) await writeExecutable(root, out, architecture);
  },
};

const { values } = parseArgs({
  options: { out: { type: "string" }, parts: { type: "string" }, arch: { type: "string" } },
});
const directory = resolve(values.out ?? join(root, "release"));
const chosen = values.parts?.split(",") ?? Object.keys(parts);
const unknown = chosen.find((name) => !(name in parts));
if (unknown !== undefined) throw new Error(`Unknown part ${unknown}. The parts are: ${Object.keys(parts).join(", ")}.`);

await setUp();
for (const name of chosen) {
  const out = join(directory, name);
  rmSync(out, { recursive: true, force: true });
  mkdirSync(out, { recursive: true });
  await parts[name](out);
}
const made = listRelease(directory).filter((name) => name !== provenanceFile);
writeProvenance({ root, directory, files: made, parts: chosen });
const count = writeChecksums(directory);
console.log(`${directory}: ${count} files, with SHA256SUMS. Nothing was published.`);

/** Standard output; a failure ends the release. */
function run(program, args, folder = ".") {
  const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: join(root, folder), encoding: "utf8" });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(" ")} failed: ${error?.message ?? stderr}`);
}

/** What a program of ours prints. */
function runProgram(path, ...args) {
  return run(process.execPath, [join(root, path), ...args]);
}
