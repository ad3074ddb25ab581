// Shipped code starts programs of the host by a path, found with the programs of the workspace package. A bare name would be
// looked up on PATH, where npx and npm run put directories that an agent can write.
import { lineAt, viewSource } from "./source.ts";
import { type Problem, packageOf, readSources, repositoryRoot, type SourceFile } from "./tree.ts";

/** Started for tests only. */
const exempt = new Set(["testkit"]);

/** Hooks that are written into repositories of users: they run with the PATH that the program has cleaned. */
const hooksOfUsers = /^packages\/cli\/src\/init\/rpi\/files\//;

export function findBareProgramNames(root = repositoryRoot): Problem[] {
  return readSources(root, /\.(ts|mts|js|mjs|cjs)$/)
    .filter(isShipped)
    .flatMap(judge);
}

function isShipped({ path }: SourceFile): boolean {
  const owner = packageOf(path);
  return owner?.isShipped === true && !exempt.has(owner.package) && !hooksOfUsers.test(path);
}

const starts = /(?<![.\w$])(?:spawn|spawnSync|execFile|execFileSync|promisify\(execFile\)|run)\(/g;
/** These take a whole line for a shell. */
const shellImports = /import\s*\{[^}]*?\b(exec|execSync)\b[^}]*\}\s*from\s*["'](?:node:)?child_process["']/g;

function judge({ path, text }: SourceFile): Problem[] {
  const { code } = viewSource(text);
  if (!/child_process|node-pty/.test(text)) return [];
  const where = (index: number) => `${path}:${lineAt(text, index)}`;
  return [
    ...[...code.matchAll(starts)].flatMap((found) =>
      bareNames(firstArgument(text, code, found.index + found[0].length)).map(
        (name) => `${where(found.index)}: ${name} is looked up on PATH; find it with HostPrograms or findProgram.`,
      ),
    ),
    ...[...text.matchAll(shellImports)].map(
      (found) => `${where(found.index)}: ${found[1]} runs a shell; use execFile with the path of a program.`,
    ),
  ];
}

function firstArgument(text: string, code: string, start: number): string {
  let depth = 0;
  for (let at = start; at < code.length; at++) {
    const character = code[at] ?? "";
    if ("([{".includes(character)) depth += 1;
    if (")]}".includes(character)) depth -= 1;
    if (depth < 0 || (depth === 0 && character === ",")) return text.slice(start, at);
  }
  return "";
}

/** Quoted names that are no path; arguments of a call inside are none. */
const bareNames = (argument: string): string[] =>
  [...argument.replace(/\w+\([^)]*\)/g, "").matchAll(/["'`]([^"'`]+)["'`]/g)]
    .map((found) => found[1] ?? "")
    .filter((name) => /^[\w.-]+$/.test(name) && !/===\s*$/.test(argument.slice(0, argument.indexOf(name) - 1)));
