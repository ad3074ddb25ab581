// Import directions between packages. What is not allowed here is forbidden.
import { builtinModules } from "node:module";
import { findImports, type Import } from "./imports.ts";
import { type Problem, packageOf, readSources, repositoryRoot, type SourceFile } from "./tree.ts";

const everything = ["protocol", "engine", "models", "workspace", "project", "mcp"];

/** Package → packages of ours its shipped code may import. Tests may import anything. */
export const allowedImports: Record<string, string[]> = {
  protocol: [],
  engine: ["protocol"],
  models: ["engine", "protocol"],
  project: ["engine", "protocol"],
  mcp: ["engine", "protocol"],
  workspace: ["protocol"],
  surfaces: ["engine", "protocol"],
  "command-line": ["project", "protocol"],
  host: everything,
  "app-server": [...everything, "surfaces", "host", "command-line"],
  action: [],
  testkit: ["protocol"],
  sdk: ["protocol"],
  web: ["protocol"],
  "platform-sdk": [...everything, "surfaces", "host"],
  tui: ["protocol", "surfaces", "command-line"],
  acp: ["protocol", "surfaces", "tui"],
  cli: [...everything, "surfaces", "host", "command-line", "app-server", "platform-sdk", "tui", "acp", "worker"],
  worker: ["protocol", "workspace", "command-line"],
  platform: [...everything, "surfaces", "host", "command-line"],
};

/** The column "imports" of the table of packages in docs/ARCHITECTURE.md. */
export function readDocumentedImports(page: string): Record<string, string[]> {
  const rows = [...page.matchAll(/^\| `([\w-]+)` \|[^|\n]*\|([^|\n]*)\|$/gm)];
  return Object.fromEntries(rows.map((row) => [row[1] ?? "", row[2]?.match(/[\w-]+/g) ?? []]));
}

/** Packages that must run anywhere and therefore import nothing from Node. */
const withoutNode = new Set(["engine", "surfaces"]);

/** Loading the schemas at start would cost every run its cold start; types, zod-free subpaths and late loading do not. */
const loadsSchemasLate = new Set([
  "engine",
  "models",
  "workspace",
  "project",
  "mcp",
  "surfaces",
  "host",
  "app-server",
  "tui",
  "acp",
  "cli",
  "sdk",
  "web",
  "platform-sdk",
  "worker",
]);

export function findForbiddenImports(root = repositoryRoot): Problem[] {
  return readSources(root, /\.(ts|tsx|mts|cts|js|mjs|cjs)$/).flatMap((file) =>
    findImports(file.text).flatMap((found) => judge(file, found)),
  );
}

/** What e2e may import of ours: schemas, test support, and the SDKs as built. */
const allowedInE2e = ["testkit", "protocol", "sdk", "platform-sdk"];

function judge(file: SourceFile, found: Import): Problem[] {
  if (file.path.startsWith("e2e/")) return judgeE2e(file, found);
  const owner = packageOf(file.path);
  if (!owner?.isShipped) return [];
  const where = `${file.path}:${found.line}`;
  const allowed = allowedImports[owner.package];
  if (!allowed) return [`${where}: package ${owner.package} has no row in checks/boundaries.ts; add one.`];
  if (withoutNode.has(owner.package) && isOfNode(found.specifier))
    return [`${where}: ${owner.package} must not import ${found.specifier}; ask for it through a port.`];
  if (loadsSchemasLate.has(owner.package) && found.specifier === "@agentcli/protocol" && found.kind === "static")
    return [`${where}: import types only from ${found.specifier}, or load it when first needed; it starts slowly.`];
  const target = targetPackage(file.path, found.specifier);
  if (target === undefined || target === owner.package || allowed.includes(target)) return [];
  return [
    `${where}: ${owner.package} must not import ${target}; it may import ${allowed.join(", ") || "nothing of ours"}.`,
  ];
}

/** Scenarios run the built programs. Only protocol may be reached by a path. */
function judgeE2e(file: SourceFile, { specifier, line }: Import): Problem[] {
  const isPath = specifier.startsWith(".");
  const target = targetPackage(file.path, specifier);
  if (target === undefined || target === outside || (isPath ? target === "protocol" : allowedInE2e.includes(target)))
    return [];
  return [
    `${file.path}:${line}: e2e must not import sources of ${target}; run what is built, or use @agentcli/testkit.`,
  ];
}

const isOfNode = (specifier: string): boolean =>
  specifier.startsWith("node:") || builtinModules.includes(specifier.split("/")[0] ?? "");

const outside = "files outside packages/";

/** The package of ours a specifier leads to, by name or by a relative path that leaves its own. */
function targetPackage(from: string, specifier: string): string | undefined {
  const named = /^@agentcli\/([^/]+)/.exec(specifier)?.[1];
  if (named !== undefined || !specifier.startsWith(".")) return named;
  const path = new URL(specifier, `file:///${from}`).pathname;
  return /^\/packages\/([^/]+)\//.exec(path)?.[1] ?? outside;
}
