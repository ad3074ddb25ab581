// The program as one executable file. What a run loads is loaded when the file is built, and kept as a snapshot of the heap;
// everything else is unpacked at the first start.
import Module, { createRequire } from "node:module";
import { basename, dirname, join, posix } from "node:path";
import { startupSnapshot } from "node:v8";
import { runInThisContext } from "node:vm";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import { unpack } from "./unpack.ts";

export interface Parts {
  /** Chunks of the built program by their path in it, as functions in place of Node's module wrapper. */
  chunks: Record<string, Chunk>;
  /** Of what is unpacked: files of another build are not used. */
  digest: string;
  /** Loads modules of Node, which is all that a script in a snapshot can load. */
  requireBuiltIn: (id: string) => unknown;
  /** Modules of Node that a snapshot cannot hold, with the names they export. */
  loadedLater: Record<string, string[]>;
}

type Chunk = (module: { exports: object }, require: (id: string) => unknown, fileOf: () => string) => void;

interface Entry {
  start(findDirectory: () => string): void;
  requireFrom(path: string): NodeJS.Require;
}

interface Program {
  /** Set when the executable has started. */
  directory: string | null;
  loaded: Map<string, { exports: object }>;
}

export function begin(parts: Parts): void {
  const program = loadChunks(parts);
  if (startupSnapshot.isBuildingSnapshot())
    startupSnapshot.setDeserializeMainFunction(() => start(program, parts.digest));
  else start(program, parts.digest);
}

function start(program: Program, digest: string): void {
  const [first = "", code = ""] = process.argv.slice(2);
  const require = createRequire(join(dirname(process.execPath), "program.cjs"));
  // Tests of the sandbox start this program as Node.
  if (first === "-e") return void runInThisContext(`(function (require) {${code}\n})`)(require);
  if (isOwnProgram(first, digest)) {
    register(program, dirname(first));
    return void createRequire(first)(first);
  }
  entryOf(program).start(() => {
    const directory = unpackOrExit(digest);
    register(program, directory);
    return directory;
  });
}

/** Nothing of the program that reports errors is there yet. */
function unpackOrExit(digest: string): string {
  try {
    return unpack(digest);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(`ERROR: ${reason.replaceAll(/\p{Cc}/gu, "?")}\n`);
    process.exit(exitCodes.failed.code);
  }
}

/** What the sandbox starts with the path of Node, which is this executable. */
const isOwnProgram = (path: string, digest: string): boolean =>
  ["workspace-server.cjs", "landlock-launcher.cjs"].includes(basename(path)) && basename(dirname(path)) === digest;

/** Chunks that are loaded from files find those of the snapshot as if they had been loaded from there. */
function register(program: Program, directory: string): void {
  program.directory = directory;
  const { cache } = createRequire(join(directory, "program.cjs"));
  for (const [name, { exports }] of program.loaded) {
    const path = join(directory, name);
    cache[path] = Object.assign(new Module(path), { exports, filename: path, loaded: true });
  }
}

const entryOf = ({ loaded }: Program): Entry => loaded.get("agentcli.cjs")?.exports as Entry;

function loadChunks({ chunks, requireBuiltIn, loadedLater }: Parts): Program {
  const program: Program = { directory: null, loaded: new Map() };
  const later = new Map(Object.entries(loadedLater).map(([id, names]) => [id, whenUsed(id, names, requireBuiltIn)]));
  const load = (name: string, chunk: Chunk): object => {
    const module = { exports: {} };
    program.loaded.set(name, module);
    chunk(module, requireIn(name), () => pathOf(program, name));
    return module.exports;
  };
  const requireIn = (name: string) => {
    let requireFile: NodeJS.Require | undefined;
    return (id: string) => {
      if (!id.startsWith(".")) return later.get(id) ?? requireBuiltIn(id);
      const wanted = posix.join(posix.dirname(name), id);
      const chunk = chunks[wanted];
      if (chunk) return program.loaded.get(wanted)?.exports ?? load(wanted, chunk);
      requireFile ??= entryOf(program).requireFrom(pathOf(program, name));
      return requireFile(id);
    };
  };
  for (const [name, chunk] of Object.entries(chunks)) if (!program.loaded.has(name)) load(name, chunk);
  return program;
}

function pathOf({ directory }: Program, name: string): string {
  if (directory === null) throw new Error(`${name} needs a file of the program before the program has started.`);
  return join(directory, name);
}

/** A module of Node whose members load it. */
function whenUsed(id: string, names: string[], requireBuiltIn: Parts["requireBuiltIn"]): object {
  const get = (name: string) => () => (requireBuiltIn(id) as Record<string, unknown>)[name];
  return Object.defineProperties(
    {},
    Object.fromEntries(names.map((name) => [name, { enumerable: true, get: get(name) }])),
  );
}
