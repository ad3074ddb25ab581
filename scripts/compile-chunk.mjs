// Compiles chunks for the Node that runs this: `packages/command-line/src/compiled.ts` loads the form that is beside them.
// As a program: node scripts/compile-chunk.mjs CHUNK...
import { readFileSync, writeFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import vm from "node:vm";

/** What a run loads, what its first command loads, and the terminal interface. */
const ofTerminal = ["terminal", "tui", "interactive", "schemas", "protocol", "serving"];
export const compiledChunks = ["run", "calls", "resume", "sandbox", "server", "commits", ...ofTerminal];

export function compileChunk(path) {
  const script = new vm.Script(Module.wrap(readFileSync(path, "utf8")), { filename: path });
  const load = createRequire(path);
  // Chunks take the version from the program, which must not start here.
  for (const name of ["agentcli.cjs", "agent.cjs"]) {
    const program = join(dirname(path), "..", name);
    load.cache[program] ??= Object.assign(new Module(program), { loaded: true });
  }
  // Run once: only what has been run is in the compiled form.
  script.runInThisContext()({}, load, { exports: {} }, path, dirname(path));
  writeFileSync(`${path}.compiled`, script.createCachedData());
}

if (process.argv[1] === fileURLToPath(import.meta.url)) for (const path of process.argv.slice(2)) compileChunk(path);
