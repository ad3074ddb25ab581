// In every package a folder with an index.ts is entered through it, and folders beside each other do not import each other in a
// cycle; types count too. Tests are free. A file that the package's exports name is a way in as well: cold start needs some.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { shortestCycle, stronglyConnected } from "./cycles.ts";
import { findImports } from "./imports.ts";
import { type Problem, readSources, repositoryRoot } from "./tree.ts";

interface Step {
  from: string;
  to: string;
  line: number;
}

/** The platform has two levels and a rule of its own: platform groups in folders.ts. */
export const exemptPackages = ["platform"];

export function findFolderViolations(root = repositoryRoot, exempt: string[] = []): Problem[] {
  const sources = readSources(root, /\.(ts|tsx|mts)$/).filter(
    ({ path }) => /^packages\/[^/]+\/src\//.test(path) && !exempt.includes(path.split("/")[1] ?? ""),
  );
  const paths = new Set(sources.map(({ path }) => path));
  const entries = exportedFiles(root);
  const steps = sources.flatMap(({ path, text }) =>
    findImports(text)
      .filter(({ specifier }) => specifier.startsWith("."))
      .map(({ specifier, line }) => ({ from: path, to: new URL(specifier, `file:///${path}`).pathname.slice(1), line }))
      .filter(({ to }) => paths.has(to) && packageRoot(to) === packageRoot(path)),
  );
  return [
    ...steps.filter(({ to }) => !entries.has(to)).flatMap((step) => judgeEntry(step, paths)),
    ...findFolderCycles(steps),
  ];
}

const packageRoot = (path: string): string => path.split("/").slice(0, 3).join("/");

/** Files that some package.json exports. */
function exportedFiles(root: string): Set<string> {
  const packages = existsSync(join(root, "packages")) ? readdirSync(join(root, "packages")) : [];
  return new Set(
    packages.flatMap((name) => {
      const manifest = join(root, "packages", name, "package.json");
      if (!existsSync(manifest)) return [];
      const { exports = {} }: { exports?: Record<string, string> } = JSON.parse(readFileSync(manifest, "utf8"));
      return Object.values(exports).map((file) => `packages/${name}/${file.replace(/^\.\//, "")}`);
    }),
  );
}

function judgeEntry({ from, to, line }: Step, paths: Set<string>): Problem[] {
  const closed = foldersOf(to).find((folder) => !from.startsWith(`${folder}/`) && paths.has(`${folder}/index.ts`));
  if (closed === undefined || to === `${closed}/index.ts`) return [];
  return [`${from}:${line}: import ${to} through ${closed}/index.ts.`];
}

/** The folders of a file below src, the outermost first. */
function foldersOf(path: string): string[] {
  const parts = dirname(path).split("/");
  return parts.slice(3).map((_part, index) => parts.slice(0, index + 4).join("/"));
}

function findFolderCycles(steps: Step[]): Problem[] {
  const graph = new Map<string, string[]>();
  for (const { from, to } of steps) {
    const [origins, targets] = [foldersOf(from), foldersOf(to)];
    const depth = origins.findIndex((folder, index) => folder !== targets[index]);
    const [origin, target] = [origins[depth], targets[depth]];
    if (origin === undefined || target === undefined) continue;
    graph.set(origin, [...(graph.get(origin) ?? []), target]);
    graph.set(target, graph.get(target) ?? []);
  }
  return stronglyConnected(graph).map(
    (folders) => `These folders import each other: ${shortestCycle(graph, new Set(folders)).join(" → ")}.`,
  );
}
