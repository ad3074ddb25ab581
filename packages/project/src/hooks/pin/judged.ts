// Programs that run nothing as long as their arguments are of the forms listed here. Everything else is refused.
import { type Call, type Options, readOptions } from "./arguments.ts";
import { judgedBuiltins } from "./builtins.ts";
import { type ShellWord, Unpinnable } from "./shell-reader.ts";

const curl: Options = {
  flags:
    /^(?:-[#0-46aBfgGiIjJkLlMnNOpqRsSvZ]+|-X[A-Z]+|-m\d+|-[fkLsS]*o\/dev\/null|--(?:silent|show-error|fail|fail-with-body|location|insecure|compressed|get|head|include|no-buffer|globoff|no-progress-meter|ipv[46]|http[\d.]+|verbose|retry-connrefused|retry-all-errors|create-dirs|remote-name))$/,
  valued:
    /^(?:-[#0-46aBfgGiIjJkLlMnNpqRsSvZ]*[AbcdeFHmoruTwXx]|--(?:request|header|data|data-(?:raw|binary|ascii|urlencode)|json|form|form-string|max-time|connect-timeout|retry|retry-delay|retry-max-time|user|user-agent|url|url-query|output|unix-socket|cacert|resolve|connect-to|proxy|cookie|write-out|max-filesize|limit-rate|upload-file))$/,
};

const jq: Options = {
  flags:
    /^(?:-[rcesnRSjaMC]+|--(?:raw-output0?|compact-output|exit-status|slurp|null-input|raw-input|sort-keys|join-output|ascii-output|monochrome-output|color-output|tab|seq|stream|unbuffered|args|jsonargs))$/,
  valued: /^--indent$/,
  paired: /^--(?:arg|argjson|slurpfile|rawfile)$/,
};

const sort: Options = {
  flags:
    /^(?:-[bcCdfghiMmnRrsuVz]+|-k\d[\w.,]*|-t.|--(?:key|field-separator|parallel)=.+|--(?:check|debug|dictionary-order|general-numeric-sort|human-numeric-sort|ignore-case|ignore-leading-blanks|ignore-nonprinting|merge|month-sort|numeric-sort|random-sort|reverse|stable|unique|version-sort|zero-terminated))$/,
  valued: /^-[bcCdfghiMmnRrsuVz]*[koStT]$/,
};

/** A word of an expression that begins with a hyphen; the values of -mtime and the like too. */
const find: Options = {
  flags:
    /^-(?:[HLP]|\d\S*|a|amin|and|anewer|atime|cmin|cnewer|ctime|daystart|delete|depth|empty|executable|false|follow|fstype|gid|group|i?lname|i?name|inum|i?path|i?regex|iwholename|links|ls|maxdepth|mindepth|mmin|mount|mtime|newer\w*|nogroup|noleaf|not|nouser|o|or|perm|print0?|printf|prune|quit|readable|regextype|samefile|size|true|type|uid|used|user|wholename|writable|xdev|xtype)$/,
};

const sed: Options = {
  flags:
    /^(?:-[nErsuz]+|-[nErsuz]*i[\w.]*|--(?:debug|in-place|null-data|posix|quiet|regexp-extended|sandbox|separate|silent|unbuffered))$/,
  valued: /^-[nErsuz]*e$/,
};

const awk: Options = { flags: /^-F.+$/, valued: /^-[Fv]$/ };

export const judgedPrograms = new Map<string, (call: Call) => void>([
  ...judgedBuiltins,
  ["curl", (call) => void readOptions(call, curl)],
  ["find", (call) => void readOptions(call, find)],
  ["sort", (call) => void readOptions(call, sort)],
  ["jq", judgeJq],
  ["sed", judgeSed],
  ["awk", judgeAwk],
  ["gawk", judgeAwk],
  ["mawk", judgeAwk],
  ["agentcli", judgeAgentcli],
  ["git", judgeGit],
  ["ruff", judgeRuff],
]);

/** They ask for a name and look at no file of the project, for which git could start a program that its configuration names. */
const harmlessGit =
  /^(?:rev-parse(?: (?:--(?:abbrev-ref|absolute-git-dir|git-common-dir|git-dir|is-inside-work-tree|short|show-cdup|show-prefix|show-toplevel)|HEAD))+|branch --show-current|symbolic-ref(?: (?:--short|-q|--quiet))* HEAD)$/;

function judgeGit({ name, words }: Call): void {
  if (!harmlessGit.test(words.map(({ value }) => value ?? "?").join(" ")))
    throw new Unpinnable(`what \`${name}\` runs or loads from the workspace is not known`);
}

/** It has no plug-ins; another of its commands could be a server. */
function judgeRuff({ name, words }: Call): void {
  if (!/^(?:check|format)$/.test(words[0]?.value ?? ""))
    throw new Unpinnable(`what \`${name}\` runs or loads from the workspace is not known`);
}

/** What follows runs in the sandbox, like commands of agents. */
function judgeAgentcli(call: Call): void {
  const words = call.words.slice(0, 5).map(({ value }) => value);
  if (!/^sandbox run (?:--sandbox|-s) (?:read-only|workspace-write) --$/.test(words.join(" ")))
    throw new Unpinnable("only `agentcli sandbox run --sandbox workspace-write -- …` runs nothing outside the sandbox");
}

function judgeJq(call: Call): void {
  const [filter] = readOptions(call, jq).operands;
  if (filter && /\b(?:import|include)\b/.test(filter.value ?? call.textOf(filter)))
    throw new Unpinnable("the filter of jq loads a file");
}

function judgeSed(call: Call): void {
  const { operands, values } = readOptions(call, sed);
  const scripts = values.length > 0 ? values.map(({ word }) => word) : operands.slice(0, 1);
  for (const script of scripts)
    if (!isHarmlessSed(codeOf(script, call)))
      throw new Unpinnable(
        "the script of sed has other commands than s, y, p, d, q and the like, which may run or write files",
      );
}

function judgeAwk(call: Call): void {
  const { operands } = readOptions(call, awk);
  const [program] = operands;
  if (program === undefined) throw new Unpinnable(`${call.name} has no program`);
  const found = startsInAwk.exec(codeOf(program, call))?.[0];
  if (found !== undefined) throw new Unpinnable(`the program of ${call.name} can run a command (${found})`);
}

/** A pipe, an extension, a function by its name, and the two words that start commands. */
const startsInAwk = /(?<!\|)\|(?!\|)|@|\bsystem\b|\bgetline\b/;

/** Code has to be known as a whole. */
function codeOf(word: ShellWord, { name, textOf }: Call): string {
  if (word.value !== null) return word.value;
  throw new Unpinnable(`the code of ${name}, \`${textOf(word)}\`, is known only when it runs`);
}

const bracket = String.raw`\[\^?(?:\[:\w+:\]|(?!DELIMITER)[^\]\[\\\n])+\]`;
const pattern = String.raw`(?:(?!DELIMITER)[^\\\n\[]|\\.|${bracket})*`;
const address = String.raw`(?:\d+(?:~\d+)?|\$|\+\d+|\/${pattern.replaceAll("DELIMITER", "\\/")}\/[IM]*)`;
const part = pattern.replaceAll("DELIMITER", "\\k<d>");
const substitution = String.raw`s(?<d>[/|#,@:!%_])${part}\k<d>(?:(?!\k<d>)[^\\\n]|\\.)*\k<d>[gpiIMm\d]*`;
const transliteration = String.raw`y\/(?:[^/\\\n]|\\.)*\/(?:[^/\\\n]|\\.)*\/`;
const command = String.raw`(?:${substitution}|${transliteration}|[dDgGhHlnNpPxz=]|[qQ]\d*|\})`;
const sedCommand = new RegExp(
  String.raw`(?:${address}(?:,${address})?\s*)?(?:!\s*)?(?:\{|${command}[ \t]*(?=[;\n}]|$))[\s;]*`,
  "y",
);

function isHarmlessSed(text: string): boolean {
  const script = text.trim();
  let at = 0;
  do {
    sedCommand.lastIndex = at;
    if (!sedCommand.test(script)) return false;
    at = sedCommand.lastIndex;
  } while (at < script.length);
  return true;
}
