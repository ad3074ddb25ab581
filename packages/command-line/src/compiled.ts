// Loads a chunk from the form that V8 compiled it to when it was built: compiling it at every start costs 6 to 12 ms.
import { readFileSync } from "node:fs";
import Module, { createRequire } from "node:module";
import { dirname, join } from "node:path";
import vm from "node:vm";

/** Where the chunks of the built program are; without one, sources are loaded. */
let chunks: string | null = null;

/** Where the compiled form is missing, or is another Node's, the chunk is loaded the usual way when it is first needed. */
export function preload(path: string): void {
  chunks ??= dirname(path);
  const load = createRequire(path);
  if (load.cache[path] !== undefined) return;
  const cachedData = readOr(`${path}.compiled`);
  if (!cachedData) return;
  const source = Module.wrap(readFileSync(path, "utf8"));
  const script = new vm.Script(source, { filename: path, cachedData });
  if (script.cachedDataRejected) return;
  const chunk = new Module(path);
  chunk.filename = path;
  load.cache[path] = chunk;
  script.runInThisContext()(chunk.exports, requireFrom(path), chunk, path, dirname(path));
  chunk.loaded = true;
}

/** The same for a chunk that a command is about to load. */
export function preloadChunk(name: string): void {
  if (chunks !== null) preload(join(chunks, `${name}.cjs`));
}

/** The function with which a chunk loads others: they may be compiled too. */
export function requireFrom(path: string): NodeJS.Require {
  const load = createRequire(path);
  // Kept here: a tool call asks for four of them, and Node would resolve their names each time.
  const loaded = new Map<string, unknown>();
  const loadChunk = (id: string) => {
    if (loaded.has(id)) return loaded.get(id);
    const other = id.startsWith("./") ? join(dirname(path), id) : undefined;
    if (other !== undefined && load.cache[other] === undefined) preload(other);
    const chunk = load(id);
    loaded.set(id, chunk);
    return chunk;
  };
  return Object.assign(loadChunk, load);
}

function readOr(path: string): Buffer | null {
  try {
    return readFileSync(path);
  } catch {
    return null;
  }
}
