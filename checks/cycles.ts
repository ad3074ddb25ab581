// No file may import itself through others. Type-only imports count: files that need each other's types cannot be read or moved alone.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { findImports } from "./imports.ts";
import { type Problem, readSources, repositoryRoot } from "./tree.ts";

export function findImportCycles(root = repositoryRoot): Problem[] {
  const graph = importGraph(root);
  return stronglyConnected(graph).map((files) => {
    const path = shortestCycle(graph, new Set(files));
    return `These files import each other: ${path.join(" → ")}. Move the shared part to a separate file.`;
  });
}

export type Graph = Map<string, string[]>;

function importGraph(root: string): Graph {
  const sources = readSources(root, /\.(ts|tsx|mts|js|mjs)$/);
  const known = new Set(sources.map((file) => file.path));
  return new Map(
    sources.map((file) => {
      const targets = findImports(file.text).map((found) => resolveImport(root, file.path, found.specifier));
      return [file.path, targets.filter((target) => target !== undefined && known.has(target))] as [string, string[]];
    }),
  );
}

function resolveImport(root: string, from: string, specifier: string): string | undefined {
  if (specifier.startsWith(".")) return new URL(specifier, `file:///${from}`).pathname.slice(1);
  const [, name, rest] = /^@agentcli\/([^/]+)(\/.*)?$/.exec(specifier) ?? [];
  const manifest = join(root, "packages", name ?? "", "package.json");
  if (!name || !existsSync(manifest)) return undefined;
  const { exports = {} }: { exports?: Record<string, string> } = JSON.parse(readFileSync(manifest, "utf8"));
  const target = exports[`.${rest ?? ""}`];
  return target === undefined ? undefined : `packages/${name}/${target.replace(/^\.\//, "")}`;
}

/** Tarjan's algorithm; only components that hold a cycle are returned. */
export function stronglyConnected(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const found: string[][] = [];
  const visit = (file: string): number => {
    order.set(file, order.size);
    let low = order.size - 1;
    stack.push(file);
    for (const next of graph.get(file) ?? []) {
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === order.get(file)) {
      const component = stack.splice(stack.indexOf(file));
      if (component.length > 1 || graph.get(file)?.includes(file)) found.push(component);
    }
    return low;
  };
  for (const file of graph.keys()) if (!order.has(file)) visit(file);
  return found;
}

export function shortestCycle(graph: Graph, within: Set<string>): string[] {
  const [start = ""] = [...within].sort();
  const paths = [[start]];
  for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
    for (const next of graph.get(path.at(-1) ?? "") ?? []) {
      if (next === start) return [...path, start];
      if (within.has(next) && !path.includes(next)) paths.push([...path, next]);
    }
  }
  return [...within];
}
