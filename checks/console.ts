// Commands in ```console blocks of the documentation are commands that there are: the shell reads them, and the programs of
// this project know their names and flags. They are not run: programs on the PATH only write down what they were started with.
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { interactive } from "../packages/cli/src/commands/tui/index.ts";
import { syntax as cliSyntax } from "../packages/cli/src/syntax.ts";
import { CommandError, parseCommandLine, type Syntax } from "../packages/command-line/src/index.ts";
import { syntax as platformSyntax } from "../packages/platform/src/commands/syntax.ts";
import { syntax as workerSyntax } from "../packages/worker/src/syntax.ts";
import { pagesOf } from "./docs.ts";
import { type Problem, repositoryRoot } from "./tree.ts";

/** Of this project: the command line must be right. */
const own: Record<string, Syntax> = {
  agentcli: { ...cliSyntax, unnamed: () => interactive },
  platform: platformSyntax,
  agent: workerSyntax,
};
/** Of others: that the shell gets to them is all that is known. */
const foreign = [
  ...["apt", "call", "cp", "curl", "docker", "git", "install", "mkdir", "node", "npm", "pip"],
  ...["platform-sdk", "run-agent.sh", "ssh-keyscan", "systemctl", "touch", "useradd", "client"],
];

export function findWrongCommands(root = repositoryRoot): Problem[] {
  const scratch = mkdtempSync(join(tmpdir(), "console-"));
  try {
    prepare(scratch);
    return [...pagesOf(root), ...readmesOf(root)].flatMap((page) =>
      readConsole(readFileSync(join(root, page), "utf8")).flatMap(({ line, text }) =>
        judge(text, scratch).map((problem) => `${page}:${line}: \`${text}\`: ${problem}`),
      ),
    );
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

const readmesOf = (root: string): string[] =>
  ["packages", "python"]
    .filter((folder) => existsSync(join(root, folder)))
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => `${folder}/${name}/README.md`))
    .filter((path) => existsSync(join(root, path)));

export interface ConsoleCommand {
  line: number;
  text: string;
}

/** Where a block has prompts, what follows one is a command and other lines are output. */
export function readConsole(document: string): ConsoleCommand[] {
  const blocks = document.matchAll(/^( *)```console\n([\s\S]*?)^\1```/gm);
  return [...blocks].flatMap(({ index, 1: indent = "", 2: body = "" }) => {
    const first = document.slice(0, index).split("\n").length + 1;
    const lines = body.split("\n").map((line) => line.slice(indent.length));
    const prompt = lines.some((line) => line.startsWith("$ "))
      ? "$ "
      : lines.some((line) => /^# \w/.test(line))
        ? "# "
        : "";
    return readLines(lines, { first, prompt });
  });
}

function readLines(lines: string[], { first, prompt }: { first: number; prompt: string }): ConsoleCommand[] {
  const commands: ConsoleCommand[] = [];
  let isOpen = false;
  for (const [index, line] of lines.entries()) {
    const last = commands.at(-1);
    if (isOpen && last) last.text += `\n${line}`;
    else if (line.startsWith(prompt) && line.trim() !== "")
      commands.push({ line: first + index, text: line.slice(prompt.length) });
    else continue;
    isOpen = !isComplete(commands.at(-1)?.text ?? "");
  }
  return commands;
}

/** A line that ends with a backslash or within quotes continues on the next. */
const isComplete = (text: string): boolean =>
  !text.endsWith("\\") &&
  !/unexpected (EOF|end of file)/.test(spawnSync("bash", ["-n", "-c", text], { encoding: "utf8" }).stderr);

function judge(text: string, scratch: string): Problem[] {
  const started = startRecorders(text, scratch);
  if (typeof started === "string") return [started];
  if (started.length === 0 && !/^(export|echo|printf|call\(\))/.test(text)) return ["it starts no program."];
  return started.flatMap(([program = "", ...argv]) => judgeArguments(program, argv));
}

/** Programs that only write down how they were started, and files that commands read. */
function prepare(scratch: string): void {
  const [bin, work] = [join(scratch, "bin"), join(scratch, "work")];
  for (const name of [".config/fish/completions", "platform", "systemd/system/caddy.service.d"])
    mkdirSync(join(work, name), { recursive: true });
  mkdirSync(bin);
  const recorder = `#!/bin/bash\nprintf '%s\\0' "\${0##*/}" "$@" $'\\1' >> ${join(scratch, "log")}\n`;
  for (const name of [...Object.keys(own), ...foreign]) writeFileSync(join(bin, name), recorder, { mode: 0o755 });
  writeFileSync(join(bin, "npx"), '#!/bin/bash\nexec "$@"\n', { mode: 0o755 });
  writeFileSync(join(bin, "sudo"), '#!/bin/bash\n[ "$1" = -u ] && shift 2\nexec "$@"\n', { mode: 0o755 });
  writeFileSync(join(bin, "systemd-run"), '#!/bin/bash\nwhile [[ $1 == -* ]]; do shift; done\nexec "$@"\n', {
    mode: 0o755,
  });
  for (const name of ["cat", "env", "printenv"]) symlinkSync(`/usr/bin/${name}`, join(bin, name));
  for (const name of ["password.txt", "token.txt"]) writeFileSync(join(work, name), "");
}

/** The command lines of the programs that it would start, or what the shell has against it. */
function startRecorders(text: string, scratch: string): string[][] | string {
  const [log, cwd] = [join(scratch, "log"), join(scratch, "work")];
  writeFileSync(log, "");
  // `fpath` is a variable of zsh. Files of the system are files of the scratch directory here.
  const script = `fpath=(. .)\n${text.replaceAll("/etc/", "./")}\nwait`;
  const env = { PATH: join(scratch, "bin"), HOME: cwd };
  const { stderr } = spawnSync("/bin/bash", ["-c", script], { cwd, env, encoding: "utf8" });
  if (/^\/bin\/bash: /m.test(stderr)) return stderr.trim();
  const entries = readFileSync(log, "utf8").split("\u0001\0").slice(0, -1);
  return entries.map((entry) => entry.split("\0").slice(0, -1));
}

function judgeArguments(program: string, argv: string[]): Problem[] {
  const syntax = own[program];
  if (!syntax) return [];
  try {
    const { kind } = parseCommandLine(argv, syntax);
    return kind === "incomplete" ? ["the command is incomplete."] : [];
  } catch (error) {
    if (error instanceof CommandError) return [error.message];
    throw error;
  }
}
