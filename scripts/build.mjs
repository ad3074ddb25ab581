// Builds what users run: the CLI and the platform with lazily loaded chunks, the programs beside them, and the SDKs.
import { copyFileSync, cpSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";
import { buildAction } from "./build-action.mjs";
import { buildDocs } from "./build-docs.mjs";
import { buildWeb } from "./build-web.mjs";
import { compileChunk, compiledChunks } from "./compile-chunk.mjs";
import { declarePlatformSdk, declareSdk } from "./declarations.mjs";
import { exportValues } from "./export-values.mjs";
import { withoutOptionalPackages } from "./optional-packages.mjs";
import { recordPackages, thirdParty } from "./third-party.mjs";

const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Programs that run in the sandbox; they are built beside the program that opens sandboxes. */
const sandboxPrograms = {
  "workspace-server": "packages/workspace/src/server/main.ts",
  "landlock-launcher": "packages/workspace/src/sandbox/landlock/launcher.ts",
};

/** Programs at both ends of the stream to a process in a container. */
const dockerPrograms = {
  "process-inside": "packages/workspace/src/remote/main.ts",
  "docker-enter": "packages/platform/src/machines/docker/enter.ts",
};

/** Native code, found at run time. */
const outside = [/^@lydell\/node-pty/];

/** Loaded only where there is a configuration file, which is nearly everywhere. Writing one is left to other commands. */
const readsConfiguration = /smol-toml|project\/src\/config\/(?!write|toml-|models-)|generated\/config-shapes/;

const entry = "packages/cli/src/entry.ts";

const workerEntry = "packages/worker/src/entry.ts";

/** A run loads these and all they import: the program, the command, and what prints its records. */
const partsOfRun = [
  "packages/cli/src/main.ts",
  "packages/cli/src/commands/exec/exec.ts",
  "packages/surfaces/src/exec-jsonl.ts",
  "packages/surfaces/src/human.ts",
];

const ofRun = await loadedWith(partsOfRun);

/** What the first tool call loads beyond that, of which the terminal interface shares some. */
const ofCalls = await loadedWith([
  "packages/engine/src/calls/run-calls.ts",
  "packages/engine/src/tools/actions.ts",
  "packages/engine/src/tools/arguments.ts",
  "packages/protocol/generated/validators/tools.js",
]);

/** What `exec resume` loads beyond that, of which the terminal interface shares some. */
const ofResume = await loadedWith(["packages/cli/src/commands/exec/resume.ts"]);

/** What a run on a terminal loads beyond that, of which the terminal interface shares all. */
const ofReporter = await loadedWith(["packages/cli/src/output/terminal-reporter.ts"]);

/** What all commands load, at once or later, but those that serve apps, among them the terminal interface. */
const ofOtherCommands = await loadedWith(otherCommands(), { later: true });

// CommonJS: an ESM entry starts 10 ms (Node 20) to 45 ms (Node 24) later.
await build({
  directory: "packages/cli/dist",
  input: { agentcli: entry, ...sandboxPrograms },
});
for (const name of compiledChunks) {
  const chunk = join(root, `packages/cli/dist/chunks/${name}.cjs`);
  escapeOtherThanAscii(chunk);
  compileChunk(chunk);
}
await build({
  directory: "packages/worker/dist",
  input: { agent: workerEntry, ...sandboxPrograms },
  groups: [group("start", 7, isOfWorkerStart)],
});
// What a worker loads until it is registered.
for (const chunk of ["start", "server", "shared", "multiplexer"].map(
  (name) => `packages/worker/dist/chunks/${name}.cjs`,
)) {
  escapeOtherThanAscii(join(root, chunk));
  compileChunk(join(root, chunk));
}
await build({ directory: "packages/platform/dist", input: { ...sandboxPrograms, ...dockerPrograms } });
await buildPlatform();
await buildWeb(root);
buildDocs(root);
// The bash grammar, read when rules have to judge the first command.
const grammar = dirname(createRequire(join(root, "packages/project/package.json")).resolve("@vscode/tree-sitter-wasm"));
const copyGrammar = (program) => {
  const directory = join(root, "packages", program, "dist");
  copyFileSync(join(grammar, "tree-sitter.js"), join(directory, "tree-sitter.cjs"));
  for (const file of ["tree-sitter.wasm", "tree-sitter-bash.wasm"])
    copyFileSync(join(grammar, file), join(directory, file));
  recordPackages(directory, [join(grammar, "..")]);
};
copyGrammar("cli");
copyGrammar("platform");
copyRpiFiles();

// The SDKs are ES modules.
await build({ directory: "packages/sdk/dist", input: { index: "packages/sdk/src/index.ts" }, format: "es" });
declareSdk(root);
await build({ directory: "packages/platform-sdk/dist", input: sandboxPrograms });
await buildPlatformSdk();
copyGrammar("platform-sdk");
await declarePlatformSdk(root);

await build({
  directory: "packages/testkit/dist",
  input: { "model-server": "packages/testkit/src/model-server/main.ts" },
});
for (const name of ["cli", "platform", "platform-sdk", "sdk", "worker"])
  copyFileSync(join(root, "LICENSE"), join(root, "packages", name, "dist/LICENSE"));
await buildTestDatabase();
await buildAction(join(root, "packages/action/dist/main.cjs"));

/** What `agentcli init rpi` writes. The guard of migrations is that of the sample repository. */
function copyRpiFiles() {
  const target = join(root, "packages/cli/dist/rpi");
  cpSync(join(root, "packages/cli/src/init/rpi/files"), target, { recursive: true });
  for (const name of [".agentcli/hooks.json", ".agentcli/hooks"])
    cpSync(join(root, "examples/sample", name), join(target, "agentcli", name), { recursive: true });
}

/** The program that makes databases for tests of the built platform. */
async function buildTestDatabase() {
  const bundle = await rolldown({
    input: join(root, "packages/platform/test/harness/database-program.ts"),
    platform: "node",
    external: (id) => !/^[./]|^@agentcli\//.test(id),
  });
  const file = join(root, "packages/testkit/dist/platform-database.mjs");
  await bundle.write({ file, format: "esm", codeSplitting: false });
}

/** One ellipsis makes the text of a chunk twice as long in memory, and slower to read: 0.6 ms at every start. */
function escapeOtherThanAscii(path) {
  const escaped = (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  writeFileSync(path, readFileSync(path, "utf8").replace(/[^\0-\x7f]/g, escaped));
}

/** A server starts once: plain ES modules, for the oldest supported Node. */
async function buildPlatform() {
  const bundle = await rolldown({
    input: { platform: join(root, "packages/platform/src/entry.ts") },
    platform: "node",
    external: [...outside, "pg-native"],
    transform: { target: "node20" },
    // An index names more than the server uses; what our own modules do when they are loaded is only for their users.
    treeshake: { moduleSideEffects: (id) => !/\/packages\/[\w-]+\/src\//.test(id) },
    checks: { eval: false },
    plugins: [withoutOptionalPackages, thirdParty(join(root, "packages/platform/dist"))],
  });
  await bundle.write({
    dir: join(root, "packages/platform/dist"),
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "chunks/[name]-[hash].mjs",
    // A server keeps the text of its modules in memory: short, and in one byte per character, which a single ellipsis would
    // make two. Names of functions and classes stay, for the stacks of reported errors.
    minify: {
      compress: true,
      mangle: { toplevel: true, keepNames: true },
      codegen: { removeWhitespace: true, asciiOnly: true },
    },
  });
}

/** A program that only calls the platform loads nothing of the engine: local agents are separate chunks. */
async function buildPlatformSdk() {
  const source = join(root, "packages/platform-sdk/src");
  const bundle = await rolldown({
    input: { index: join(source, "index.ts"), "bridge/main": join(source, "bridge/main.ts") },
    platform: "node",
    external: outside,
    transform: { target: "node20" },
    treeshake: { moduleSideEffects: false },
    checks: { eval: false },
    plugins: [withoutOptionalPackages, thirdParty(join(root, "packages/platform-sdk/dist"))],
  });
  await bundle.write({
    dir: join(root, "packages/platform-sdk/dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    minify: true,
  });
}

async function build({ directory, input, format = "cjs", groups = [] }) {
  rmSync(join(root, directory), { recursive: true, force: true });
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(input).map(([name, path]) => [name, join(root, path)])),
    platform: "node",
    external: outside,
    transform: { target: "node18.19" },
    treeshake: { moduleSideEffects: false },
    // Needed to leave the dependencies of a chunk where they are, below.
    preserveEntrySignatures: "allow-extension",
    // The runtime of the grammar can evaluate code for grammars that need it; that of bash does not.
    checks: { eval: false },
    plugins: [withoutOptionalPackages, thirdParty(join(root, directory)), ...(format === "cjs" ? [exportValues] : [])],
  });
  await bundle.write({
    dir: join(root, directory),
    format,
    entryFileNames: format === "es" ? "[name].js" : "[name].cjs",
    chunkFileNames: "chunks/[name].cjs",
    // A chunk in its compiled form has no loader for `import()`.
    dynamicImportInCjs: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        ...groups,
        group("shared", 6, isShared),
        group("run", 5, isOfRun),
        group("server", 4, isOfServer),
        group("skills", 3, isOfSkills),
        group("sandbox", 3, isOfSandbox),
        group("commits", 3, isOfCommits),
        group("calls", 3, (id) => ofCalls.has(id)),
        group("resume", 3, (id) => ofResume.has(id)),
        group("terminal", 2, (id) => ofReporter.has(id)),
        group("tui", 1, reachedBy("packages/cli/src/tui/open.ts")),
        // Loaded one after the other, with keys answered in between.
        group("schemas", 2, (id, graph) => id.includes("/node_modules/zod/") && isOfServing(id, graph)),
        group("protocol", 2, (id, graph) => id.includes("/packages/protocol/") && isOfServing(id, graph)),
        group("serving", 1, isOfServing),
        group("interactive", 0, onlyOf("packages/tui/src/app/session.ts")),
      ],
    },
    minify: true,
  });
}

/** All that a run loads is one file, even where other commands share it: each further file would slow down every start. */
function isOfRun(id, graph) {
  // What the entry itself needs stays there: for --version it loads nothing else.
  if (reachedFrom(entry, graph).has(id)) return false;
  return readsConfiguration.test(id) || ofRun.has(id);
}

/** The server in the process of the terminal interface. */
function isOfServing(id, graph) {
  return onlyOf("packages/cli/src/tui/in-process.ts")(id, graph);
}

/** What it shares with other commands stays outside: they would load all of this for one module. */
function onlyOf(start) {
  return (id, graph) => !ofOtherCommands.has(id) && reachedFrom(start, graph).has(id);
}

function otherCommands() {
  const commands = "packages/cli/src/commands";
  const files = readdirSync(join(root, commands), { recursive: true }).filter((file) => /\/.*\.ts$/.test(file));
  return files.filter((file) => !/^(tui|app-server)\//.test(file)).map((file) => `${commands}/${file}`);
}

/** A project with skills needs all of this: one file instead of four. */
function isOfSkills(id, graph) {
  return reachedFrom("packages/project/src/skills/read.ts", graph).has(id);
}

/** All that a worker loads until it is registered is one file, beside the one that it shares with the server in the sandbox. */
function isOfWorkerStart(id, graph) {
  // The bridge of the sandbox loads it too.
  const isOfEgress = reachedFrom("packages/workspace/src/egress/index.ts", graph).has(id);
  if (isOfServer(id, graph) || isOfEgress) return false;
  const parts = [
    ...["main.ts", "run.ts", "start.ts"].map((name) => `packages/worker/src/${name}`),
    ...["link/index.ts", "link/link.ts", "link/silence.ts", "sandbox/probe.ts"].map(
      (name) => `packages/workspace/src/${name}`,
    ),
  ];
  return parts.some((start) => reachedFrom(start, graph).has(id));
}

/** What opens a sandbox with bubblewrap, where commands may write: one file instead of fourteen. */
function isOfSandbox(id, graph) {
  const parts = ["launch.ts", "bubblewrap/start.ts", "repositories/protect.ts"];
  return parts.some((part) => reachedFrom(`packages/workspace/src/sandbox/${part}`, graph).has(id));
}

/** The server in the sandbox starts with one file; the host loads parts of it too. */
function isOfServer(id, graph) {
  return reachedFrom(sandboxPrograms["workspace-server"], graph).has(id) && !id.endsWith("server/main.ts");
}

/** Loaded while the sandbox starts. */
function isOfCommits(id, graph) {
  return reachedFrom("packages/workspace/src/sandbox/commits/commits.ts", graph).has(id);
}

/** What the entry needs stays there, as above. */
function reachedBy(...starts) {
  return (id, graph) => !reachedFrom(entry, graph).has(id) && starts.some((start) => reachedFrom(start, graph).has(id));
}

/** Except for what the server in the sandbox loads too. */
function isShared(id, graph) {
  return isOfRun(id, graph) && reachedFrom("packages/workspace/src/server/server.ts", graph).has(id);
}

/** The modules whose code these load: at once, or `later` too. Fewer than they import: an index names more than is used. */
async function loadedWith(paths, { later = false } = {}) {
  const bundle = await rolldown({
    input: paths.map((path) => join(root, path)),
    platform: "node",
    external: outside,
    treeshake: { moduleSideEffects: false },
    checks: { eval: false },
    plugins: [exportValues],
  });
  const { output } = await bundle.generate({ format: "cjs" });
  await bundle.close();
  const chunks = new Map(output.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]));
  const loaded = new Set([...chunks.values()].filter(({ isEntry }) => isEntry));
  for (const { imports, dynamicImports } of loaded)
    for (const name of [...imports, ...(later ? dynamicImports : [])])
      if (chunks.has(name)) loaded.add(chunks.get(name));
  const modules = [...loaded].flatMap((chunk) => Object.entries(chunk.modules));
  return new Set(modules.flatMap(([id, { renderedLength }]) => (renderedLength > 0 ? [id] : [])));
}

function reachedFrom(start, graph) {
  const reached = new Set([join(root, start)]);
  for (const id of reached) for (const next of graph.getModuleInfo(id)?.importedIds ?? []) reached.add(next);
  return reached;
}

function group(name, priority, belongs) {
  return { name: (id, graph) => (belongs(id, graph) ? name : null), debugName: name, priority };
}
