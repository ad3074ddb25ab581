// Reads a file of test cases. Every problem has a line; a case with a problem does not hide the others.
import { readFileSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Case, CaseFile, Replies, ScriptedCall, ScriptedReply } from "./case.ts";
import { readExpectations } from "./expectations.ts";
import {
  anyTableOf,
  checkedPath,
  choiceOf,
  jsonOf,
  listOf,
  pathOf,
  severalOf,
  type Table,
  tableOf,
  textOf,
} from "./fields.ts";
import { CaseFileError, type Located, readYaml } from "./located.ts";

export const readCaseFile = (path: string): CaseFile => readCases(path, () => readText(path));

export function readCases(path: string, read: () => string): CaseFile {
  const file: CaseFile = { path, cases: [], problems: [] };
  attempt(file, () => {
    const { defaults, cases } = readTop(readYaml(read()));
    for (const [index, value] of cases.entries())
      attempt(file, () => void file.cases.push(readCase(value, { path, index, defaults })));
    refuseTwins(file);
  });
  return file;
}

function attempt(file: CaseFile, read: () => void): void {
  try {
    read();
  } catch (error) {
    if (!(error instanceof CaseFileError)) throw error;
    file.problems.push({ line: Math.max(1, error.line), message: error.message });
  }
}

const maxBytes = 1_048_576;

/** Only regular files: opening a pipe would block. */
function readText(path: string): string {
  try {
    const stats = statSync(path);
    if (!stats.isFile()) throw new Error("it is not a regular file");
    if (stats.size > maxBytes) throw new Error(`it is larger than ${maxBytes} bytes`);
    return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
  } catch (error) {
    throw new CaseFileError(1, `cannot be read: ${(error as Error).message}`);
  }
}

const settingNames = ["sandbox", "directory", "budget", "files"] as const;
const caseNames = ["name", "prompt", "model", "agents", "cassette", ...settingNames, "expect", "not"] as const;

/** Settings beside `cases` are for all cases of the file. */
function readTop(value: Located): { defaults: Table; cases: Located[] } {
  const table = tableOf(value, "a file of tests", ["cases", ...settingNames]);
  const cases = table.get("cases");
  if (!cases) throw new CaseFileError(value.line, 'there is no "cases": write a list of cases below it');
  const items = listOf(cases, "cases");
  if (items.length === 0) throw new CaseFileError(cases.line, "the list of cases is empty");
  return { defaults: table, cases: items };
}

interface CaseContext {
  path: string;
  index: number;
  defaults: Table;
}

function readCase(value: Located, { path, index, defaults }: CaseContext): Case {
  const table = tableOf(value, "a case", caseNames);
  const member = (name: string) => table.get(name) ?? defaults.get(name);
  const named = table.get("name");
  const prompt = table.get("prompt");
  const replies = readReplies(table, path);
  if (!prompt && replies.kind !== "cassette")
    throw new CaseFileError(value.line, 'a case needs a "prompt", or a "cassette" that has one');
  const sandbox = member("sandbox");
  const directory = member("directory");
  const expectations = readExpectations(table);
  if (expectations.length === 0) throw new CaseFileError(value.line, 'a case needs "expect": nothing is tested');
  return {
    path,
    line: value.line,
    name: named ? textOf(named, "name") : `case ${index + 1}`,
    ...(prompt && { prompt: textOf(prompt, "prompt") }),
    replies,
    ...(sandbox && { sandbox: readSandbox(sandbox) }),
    ...(directory && { directory: pathOf(directory, "directory") }),
    budget: readBudget(member("budget")),
    files: new Map([...readFiles(defaults.get("files")), ...readFiles(table.get("files"))]),
    expectations,
  };
}

/** A file of the project cannot widen what its test may do. */
const readSandbox = (value: Located) => choiceOf(value, "sandbox", ["read-only", "workspace-write"]);

function readBudget(value: Located | undefined): string[] {
  if (!value) return [];
  const names = ["usd", "tokens", "turns", "tools", "wall"];
  return [...tableOf(value, "budget", names)].map(([name, amount]) => `${name}=${textOf(amount, `budget.${name}`)}`);
}

const readFiles = (value: Located | undefined): [string, string][] =>
  value
    ? [...anyTableOf(value, "files")].map(([path, text]) => [
        checkedFile(path, text.line),
        textOf(text, `the text of ${path}`),
      ])
    : [];

function checkedFile(path: string, line: number): string {
  const checked = checkedPath(path, line, "files");
  if (checked.split("/")[0] !== ".git") return checked;
  throw new CaseFileError(line, "files cannot write below .git");
}

function readReplies(table: Table, path: string): Replies {
  const [model, cassette] = [table.get("model"), table.get("cassette")];
  if (model && cassette) throw new CaseFileError(cassette.line, 'a case has either "model" or "cassette"');
  const agents = table.get("agents");
  if (agents && !model) throw new CaseFileError(agents.line, '"agents" needs "model", the replies to the main thread');
  if (cassette) return { kind: "cassette", path: resolve(dirname(path), pathOf(cassette, "cassette")) };
  if (!model) return { kind: "none" };
  const roles = agents ? [...anyTableOf(agents, "agents")] : [];
  return {
    kind: "script",
    main: readScript(model, "model"),
    agents: new Map(roles.map(([role, value]) => [role, readScript(value, `agents.${role}`)])),
  };
}

const readScript = (value: Located, what: string): ScriptedReply[] =>
  listOf(value, what).map((item) => {
    const parts = severalOf(item).map((part) => readReply(part, what));
    const messages = parts.flatMap(({ message }) => message ?? []);
    return {
      line: item.line,
      ...(messages.length > 0 && { message: messages.join("\n") }),
      calls: parts.flatMap(({ calls }) => calls),
    };
  });

const replyNames = ["message", "run", "patch", "read", "call", "with"] as const;

function readReply(value: Located, what: string): Omit<ScriptedReply, "line"> {
  const table = tableOf(value, `a reply of ${what}`, replyNames);
  const [message, input] = [table.get("message"), table.get("with")];
  const calls = [...table].flatMap(([name, member]) => readCall(name, member, input));
  if (input && !table.has("call")) throw new CaseFileError(input.line, '"with" needs "call", the name of a tool');
  if (!message && calls.length === 0)
    throw new CaseFileError(value.line, "a reply has a message, or calls a tool with run, patch, read or call");
  return { ...(message && { message: textOf(message, "message") }), calls };
}

function readCall(name: string, value: Located, input: Located | undefined): ScriptedCall[] {
  switch (name) {
    case "run":
      return [{ tool: "exec_command", input: { cmd: textOf(value, "run") } }];
    case "patch":
      return [{ tool: "apply_patch", input: textOf(value, "patch") }];
    case "read":
      return [{ tool: "read_file", input: { path: textOf(value, "read") } }];
    case "call":
      return [{ tool: textOf(value, "call"), input: input ? jsonOf(input) : {} }];
    default:
      return [];
  }
}

/** Reports name a case by its name. */
function refuseTwins(file: CaseFile): void {
  const seen = new Map<string, number>();
  for (const { name, line } of file.cases) {
    const first = seen.get(name);
    if (first !== undefined)
      file.problems.push({ line, message: `another case is called "${name}" (line ${first}). Choose another name` });
    else seen.set(name, line);
  }
}
