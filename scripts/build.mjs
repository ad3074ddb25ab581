// Builds what users run: the CLI and the platform with lazily loaded chunks, the programs beside them, and the SDKs.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { rolldown } from "rolldown";
import { declarePlatformSdk, declareSdk } from "./declarations.mjs";

const house = join(dirname(fileURLToPath(import.meta.url)), "..");

/** What the sandbox runs; it lies beside the program that opens sandboxes. */
const sandboxPrograms = {
  "workspace-server": "packages/workspace/src/server/main.ts",
  "landlock-launcher": "packages/workspace/src/sandbox/landlock/launcher.ts",
};

/** Native code, found at run time. */
const outside = [/^@lydell\/node-pty/, "koffi"];

/** Loaded only where there is a configuration, which is nearly everywhere. */
const readsConfiguration = /smol-toml|project\/src\/config\/|generated\/config-shapes/;

// CommonJS: an ESM entry starts 10 ms (Node 20) to 45 ms (Node 24) later.
await build({
  directory: "packages/cli/dist",
  input: { agentcli: "packages/cli/src/entry.ts", ...sandboxPrograms },
});
compile(join(house, "packages/cli/dist/chunks/run.cjs"));
await build({ directory: "packages/platform/dist", input: sandboxPrograms });
await buildPlatform();
// The bash grammar, read when rules have to judge the first command.
const grammar = dirname(
  createRequire(join(house, "packages/project/package.json")).resolve("@vscode/tree-sitter-wasm"),
);
for (const file of ["tree-sitter.wasm", "tree-sitter-bash.wasm"])
  for (const program of ["cli", "platform"])
    copyFileSync(join(grammar, file), join(house, "packages", program, "dist", file));

// The SDKs are modules: whoever imports one decides when, and Node 18 cannot require one.
await build({ directory: "packages/sdk/dist", input: { index: "packages/sdk/src/index.ts" }, format: "es" });
declareSdk(house);
await build({ directory: "packages/platform-sdk/dist", input: sandboxPrograms });
await buildPlatformSdk();
await declarePlatformSdk(house);

await build({
  directory: "packages/testkit/dist",
  input: { "model-server": "packages/testkit/src/model-server/main.ts" },
});

/** Beside the chunk, for the Node that builds: `packages/cli/src/compiled.ts` loads it. */
function compile(path) {
  const script = new vm.Script(Module.wrap(readFileSync(path, "utf8")), { filename: path });
  // Run once: only what has been run is in the compiled form.
  script.runInThisContext()({}, createRequire(path), { exports: {} }, path, dirname(path));
  writeFileSync(`${path}.compiled`, script.createCachedData());
}

/** A server starts once: modules as they are, for the Node that the house needs. */
async function buildPlatform() {
  const bundle = await rolldown({
    input: { platform: join(house, "packages/platform/src/entry.ts") },
    platform: "node",
    external: [...outside, "pg-native"],
    transform: { target: "node20" },
    checks: { eval: false },
  });
  await bundle.write({
    dir: join(house, "packages/platform/dist"),
    format: "esm",
    entryFileNames: "[name].mjs",
    chunkFileNames: "chunks/[name]-[hash].mjs",
  });
}

/** Who only asks the platform loads nothing of the engine: local agents are chunks of their own. */
async function buildPlatformSdk() {
  const source = join(house, "packages/platform-sdk/src");
  const bundle = await rolldown({
    input: { index: join(source, "index.ts"), "bridge/main": join(source, "bridge/main.ts") },
    platform: "node",
    external: outside,
    transform: { target: "node20" },
    treeshake: { moduleSideEffects: false },
    checks: { eval: false },
  });
  await bundle.write({
    dir: join(house, "packages/platform-sdk/dist"),
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "chunks/[name]-[hash].js",
    minify: true,
  });
}

async function build({ directory, input, format = "cjs" }) {
  rmSync(join(house, directory), { recursive: true, force: true });
  const bundle = await rolldown({
    input: Object.fromEntries(Object.entries(input).map(([name, path]) => [name, join(house, path)])),
    platform: "node",
    external: outside,
    transform: { target: "node18.19" },
    treeshake: { moduleSideEffects: false },
    // The runtime of the grammar could evaluate code for grammars that ask for it; bash's does not.
    checks: { eval: false },
  });
  await bundle.write({
    dir: join(house, directory),
    format,
    entryFileNames: format === "es" ? "[name].js" : "[name].cjs",
    chunkFileNames: "chunks/[name].cjs",
    // A chunk in its compiled form has no loader for `import()`.
    dynamicImportInCjs: false,
    codeSplitting: { groups: [group("shared", 2, isShared), group("run", 1, isOfRun)] },
    minify: true,
  });
}

/** All that a run loads is one file, whatever other commands share with it: each more would cost every start. */
function isOfRun(id, graph) {
  return readsConfiguration.test(id) || reachedFrom("packages/cli/src/commands/exec.ts", graph).has(id);
}

/** But for what the server in the sandbox loads too. */
function isShared(id, graph) {
  return isOfRun(id, graph) && reachedFrom("packages/workspace/src/server/server.ts", graph).has(id);
}

function reachedFrom(start, graph) {
  const reached = new Set([join(house, start)]);
  for (const id of reached) for (const next of graph.getModuleInfo(id)?.importedIds ?? []) reached.add(next);
  return reached;
}

function group(name, priority, belongs) {
  return { name: (id, graph) => (belongs(id, graph) ? name : null), debugName: name, priority };
}
