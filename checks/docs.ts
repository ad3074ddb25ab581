// Commands in the documentation work: every line of a ```sh block runs in a fresh copy of the sample repository.
// Blocks marked ```console are for checks/console.ts. `npm` lines are not run either; their script must exist.
import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { type Problem, repositoryRoot } from "./tree.ts";

export function findBrokenCommands(root = repositoryRoot, pages = pagesOf(root)): Problem[] {
  return pages.flatMap((path) => {
    if (!existsSync(join(root, path))) return [`${path} is missing.`];
    const commands = readCommands(readFileSync(join(root, path), "utf8"));
    return runDocument(root, commands).map((problem) => `${path}:${problem}`);
  });
}

export interface Command {
  line: number;
  text: string;
  /** Number of the block: its commands share a working directory. */
  block: number;
}

/** The lines of ```sh blocks; a line that ends with a backslash continues on the next. */
export function readCommands(document: string): Command[] {
  const commands: Command[] = [];
  let isShell = false;
  let block = 0;
  let fence: string | undefined;
  for (const [index, line] of document.split("\n").entries()) {
    const mark = /^\s*(`{3,})\s*(\S*)/.exec(line);
    if (mark && (fence === undefined || (line.trim() === fence && fence === mark[1]))) {
      fence = fence === undefined ? mark[1] : undefined;
      isShell = fence !== undefined && mark[2] === "sh";
      if (isShell) block += 1;
    } else if (isShell) addLine(commands, line, { line: index + 1, block });
  }
  return commands;
}

function addLine(commands: Command[], line: string, position: Omit<Command, "text">): void {
  const last = commands.at(-1);
  if (last?.text.endsWith("\\")) last.text = `${last.text.slice(0, -1)}${line.trim()}`;
  else if (line.trim() !== "" && !line.trim().startsWith("#")) commands.push({ ...position, text: line.trim() });
}

/** README and the pages of docs/, relative to the root. */
export function pagesOf(root: string): string[] {
  const folder = join(root, "docs");
  const pages = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith(".md")) : [];
  return ["README.md", ...pages.sort().map((name) => `docs/${name}`)];
}

// For one that hangs. On a busy machine a session of six steps took more than two minutes.
const commandTimeoutMs = 600_000;

function runDocument(root: string, commands: Command[]): Problem[] {
  if (commands.length === 0) return [];
  const directory = mkdtempSync(join(tmpdir(), "docs-"));
  try {
    const env = prepare(root, directory);
    const top = join(directory, "repository");
    let [cwd, current] = [top, 0];
    return commands.flatMap(({ line, text, block }) => {
      if (block !== current) [cwd, current] = [top, block];
      if (/^npm\b/.test(text)) return judgeNpm(root, text).map((problem) => `${line}: ${problem}`);
      const folder = join(directory, "working-directory");
      const script = `trap 'pwd > ${folder}' EXIT\n${text}`;
      const run = spawnSync("bash", ["-c", script], {
        cwd,
        env,
        encoding: "utf8",
        input: "",
        timeout: commandTimeoutMs,
      });
      if (existsSync(folder)) cwd = readFileSync(folder, "utf8").trim();
      if (run.status === 0) return [];
      const ending = run.status === null ? `ended by ${run.signal}` : `exit code ${run.status}`;
      return [`${line}: \`${text}\` failed (${ending}).\n${run.stdout}${run.stderr}`];
    });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** A repository made from the sample, an empty home and data directory, and `agentcli` and `platform` on the PATH. */
function prepare(root: string, directory: string): NodeJS.ProcessEnv {
  const [repository, bin, home] = ["repository", "bin", "home"].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  cpSync(join(root, "examples/sample"), repository, { recursive: true });
  for (const folder of [bin, home]) mkdirSync(folder);
  for (const [name, path] of Object.entries(programs)) {
    writeFileSync(join(bin, name), `#!/bin/sh\nexec "${process.execPath}" "${join(root, path)}" "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  // `npx` of a clone starts what is on the PATH here.
  writeFileSync(join(bin, "npx"), '#!/bin/sh\nexec "$@"\n', { mode: 0o755 });
  const git = (...args: string[]) => spawnSync("git", args, { cwd: repository });
  git("init", "-q", "-b", "main");
  git("config", "user.name", "Docs");
  git("config", "user.email", "docs@example.org");
  git("add", "-A");
  git("commit", "-q", "-m", "Start");
  const { AGENT_API_KEY: _key, NODE_TEST_CONTEXT: _context, ...env } = process.env;
  return {
    ...env,
    AGENT_HOME: home,
    PLATFORM_DATA: join(directory, "data"),
    PATH: `${bin}${delimiter}${process.env.PATH}`,
  };
}

const programs = { agentcli: "packages/cli/bin/agentcli.cjs", platform: "packages/platform/bin/platform.mjs" };

function judgeNpm(root: string, text: string): Problem[] {
  const known = ["install", "ci", "test", "start", "pack", "login"];
  const { scripts = {} }: { scripts?: Record<string, string> } = JSON.parse(
    readFileSync(join(root, "package.json"), "utf8"),
  );
  const [, verb = "", name = ""] = /^npm\s+(\S+)(?:\s+(?:--\s+)?(\S+))?/.exec(text) ?? [];
  const script = verb === "run" ? name : ["test", "start"].includes(verb) ? verb : undefined;
  if (script === undefined)
    return known.includes(verb) ? [] : [`\`${text}\` is not an npm command the documentation uses.`];
  return script in scripts ? [] : [`\`${text}\` needs the script ${script}, which package.json does not have.`];
}
