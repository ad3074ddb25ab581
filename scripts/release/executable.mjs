// agentcli as one executable file: Node with the built program in it. For this machine's processor with a snapshot of the
// heap and compiled code, for others without.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { builtinModules, createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { rolldown } from "rolldown";
import { compiledChunks } from "../compile-chunk.mjs";
import { fetchPackage } from "./fetch-package.mjs";

/** From the packages that npm's own package `node` installs. This Node injects the program by itself (--build-sea). */
const nodeVersion = "26.10.0";
const nodeIntegrity = {
  x64: "sha512-OmAztarr1gK4PD+sNyoku4N5Q40d8eqMuLjNa/zRvxF33aCsVKVIQLs4V5HYPWSWWlMiTdkmbZE/6Phigma0hw==",
  arm64: "sha512-idArV/cmqW9M9ODyGlbOIiyxFourDh1mJB0SdKCdMbSZjjef9CLEN3o1/eE4yf+B0+5BD+F74MpTTHiB3XXTBQ==",
};

/** Modules of Node that a snapshot cannot hold: they are loaded when they are first used. */
const notInSnapshots = ["node:http", "node:https", "node:tls"];

/** What a run loads, and its first command. */
const hotChunks = ["run", "resume", "sandbox", "server", "commits"];

export const architectures = Object.keys(nodeIntegrity);

/** What executables are made from besides the lock file. */
export const fetchedPackages = architectures.map((architecture) => ({
  name: `node-linux-${architecture}`,
  version: nodeVersion,
  integrity: nodeIntegrity[architecture],
}));

/** What the Node in the executables comes with. */
export const nodeComponent = { name: "node", version: nodeVersion, license: "MIT" };

export async function writeExecutable(root, directory, architecture) {
  const scratch = mkdtempSync(join(tmpdir(), "executable-"));
  try {
    const isNative = architecture === process.arch;
    const builder = nodeFor(root, process.arch);
    const executable = nodeFor(root, architecture);
    const files = join(scratch, "program");
    collectFiles({ root, files, architecture });
    const compiled = compiledChunks.map((name) => join(files, "chunks", `${name}.cjs`));
    if (isNative) run(builder, [join(root, "scripts/compile-chunk.mjs"), ...compiled]);
    const { script, listed } = await describeProgram({ root, files, node: builder });
    const [main, list, options] = ["main.cjs", "files.json", "options.json"].map((name) => join(scratch, name));
    writeFileSync(main, script);
    writeFileSync(list, JSON.stringify(listed));
    const assets = Object.fromEntries(listed.map(({ path }) => [path, join(files, path)]));
    const output = join(directory, `agentcli-linux-${architecture}`);
    // A snapshot has the compiled code; neither can be made for another processor.
    const how = { useSnapshot: isNative, useCodeCache: false, disableExperimentalSEAWarning: true };
    writeFileSync(
      options,
      JSON.stringify({ main, output, executable, ...how, assets: { ...assets, "files.json": list } }),
    );
    // Functions are compiled now rather than when they are first called.
    run(builder, ["--no-lazy", "--no-flush-bytecode", "--build-sea", options]);
    copyFileSync(join(dirname(executable), "../LICENSE"), join(directory, "node-LICENSE.txt"));
    return output;
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** The script with which the executable starts, and the files that it unpacks below `digest`. */
export async function describeProgram({ root, files, node }) {
  const listed = listFiles(files);
  const digest = digestOf(files, listed);
  return { script: await mainScript({ root, files, digest, node }), listed, digest };
}

function nodeFor(root, architecture) {
  const node = fetchedPackages.find(({ name }) => name === `node-linux-${architecture}`);
  return join(fetchPackage(root, node), "bin/node");
}

/** The built program, and beside it what npm would install with it for that processor. */
export function collectFiles({ root, files, architecture }) {
  cpSync(join(root, "packages/cli/dist"), files, { recursive: true, filter: (path) => !path.endsWith(".compiled") });
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  const suffix = `linux-${architecture}`;
  for (const name of ["@lydell/node-pty", `@lydell/node-pty-${suffix}`, `@koromix/koffi-${suffix}`]) {
    const locked = packages[`node_modules/${name}`];
    const target = join(files, "node_modules", name);
    mkdirSync(target, { recursive: true });
    cpSync(fetchPackage(root, { ...locked, name }), target, { recursive: true });
  }
}

/** Read-only: they are replaced as a whole. */
const listFiles = (directory) =>
  readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => ({ path: relative(directory, path), mode: statSync(path).mode & 0o111 ? 0o500 : 0o400 }))
    .sort((one, other) => (one.path < other.path ? -1 : 1));

function digestOf(directory, listed) {
  const hash = createHash("sha256").update(nodeVersion);
  for (const { path, mode } of listed) hash.update(`${path} ${mode} `).update(readFileSync(join(directory, path)));
  return hash.digest("hex").slice(0, 32);
}

/** The chunks as functions, and the program that loads them (packages/cli/src/executable). */
async function mainScript({ root, files, digest, node }) {
  const bundle = await rolldown({
    input: join(root, "packages/cli/src/executable/begin.ts"),
    platform: "node",
    external: builtinModules,
    treeshake: { moduleSideEffects: false },
  });
  const { output } = await bundle.generate({ format: "cjs", codeSplitting: false });
  const asFunction = (name) => {
    const text = readFileSync(join(files, name), "utf8").replaceAll("__filename", "fileOf()");
    return `${JSON.stringify(name)}: function (module, require, fileOf) {const exports = module.exports;${text}\n}`;
  };
  const names = `Object.fromEntries(${JSON.stringify(notInSnapshots)}.map((id) => [id, Object.keys(require(id))]))`;
  const loadedLater = run(node, ["-p", `JSON.stringify(${names})`]).trim();
  return `const begun = {};
(function (exports) {${output[0].code}\n})(begun);
begun.begin({
chunks: {${findHotChunks(files).map(asFunction).join(",\n")}},
digest: ${JSON.stringify(digest)},
requireBuiltIn: require,
loadedLater: ${loadedLater},
});
`;
}

/** With all that they need as soon as they are loaded. */
function findHotChunks(files) {
  const load = createRequire(join(files, "program.cjs"));
  for (const name of hotChunks) load(`./chunks/${name}.cjs`);
  const loaded = Object.keys(load.cache).filter((path) => path.startsWith(`${files}/`) && path.endsWith(".cjs"));
  return loaded.map((path) => relative(files, path));
}

function run(program, args) {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8" });
  if (status === 0) return stdout;
  throw new Error(`${program} ${args.join(" ")} failed: ${error?.message ?? stderr}`);
}
