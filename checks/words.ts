// Words that the project replaced stay out of names, comments, messages and documents. CONTRIBUTING.md has the rules.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { viewSource } from "./source.ts";
import { readSources, repositoryRoot, type SourceFile } from "./tree.ts";

/** One use of a replaced word. `line` is 0 where the word is in the name of the file. */
export interface WordUse {
  path: string;
  line: number;
  word: string;
}

/** Never used, in a name or in a sentence. */
const bannedWords =
  /^(?:wish(?:es|ed|ing)?|mend(?:s|ed|ing|er)?|troubles?|desks?|storytellers?|surroundings|circumstances|equipment|askers?|heed(?:s|ed|ing)?|deeds?|remarks?|homecomings?|dialling|forsaken|nobody|whoever|somebody|anybody|everybody|house|houses|happenings?)$/;

/** Plain words in a sentence, private dialect as part of a name. */
const bannedInNames =
  /^(?:places?|tells?|told|telling|says?|said|saying|doors?|stages?|bench|benches|story|stories|company|around|making|growing|standing|hears?|heard|hearing|patience|patient|adopt(?:s|ed|ing)?|forest|carrying|pretended|whom)$/;

/** Compound names whose parts are plain alone. */
const bannedNames =
  /carr(?:y|ies|ied)Out|tak(?:e|es|en|ing)Up(?!d|p)|let(?:s|ting)?Go(?![a-z])|openEyes|openSilence|openPatience|onceMore|InOldWords|inPassing|^(?!mostRecent$)(?:most|longest)(?=[A-Z_])|[a-z](?:Most|Longest)$/;

/** Dialect in sentences. */
const bannedPhrases = [
  /\b(?:is|are|was|were|be|been|being) (?:told|said)\b/gi,
  /(?<!\bthere )\bis no (?!longer\b|more\b|less\b|better\b|worse\b|larger\b|older\b|wider\b|newer\b)[a-z]+/gi,
  /\blet(?:s|ting)? go\b/gi,
  /\bcarr(?:y|ies|ied|ying) out\b/gi,
  /\btak(?:es|en) up\b/gi,
  /\bonce more\b/gi,
  /\bas[- ]whom\b/gi,
];

/** Names and phrases fixed by a wire, a stored format, an input language or another project. `below` narrows an exception to some files. */
export const exceptions: { name: string; below?: string; reason: string }[] = [
  { name: "longestRunningTurnSec", reason: "member of the app server's account usage" },
  { name: "longestStreakDays", reason: "member of the app server's account usage" },
  {
    name: "stage",
    below: "packages/protocol/src/app-server/catalogues.ts",
    reason: "member of experimentalFeature/list",
  },
  { name: "stage", below: "packages/app-server/", reason: "member of experimentalFeature/list" },
  { name: "mend", below: "packages/cli/src/", reason: "member of doctor --json" },
  { name: "mend", below: "e2e/cli/doctor.test.ts", reason: "member of doctor --json" },
  { name: "stage", below: "packages/workspace/", reason: "git's word for the slots of an index entry" },
  {
    name: "Carry out",
    below: "packages/models/test/practice.test.ts",
    reason: "a phrase of users that the practice model understands",
  },
  { name: "nobody", below: "packages/testkit/src/shop/debian-base.ts", reason: "a user of Debian" },
  { name: "remark", below: "packages/web/", reason: "name of the Markdown parser" },
  { name: "remarkPlugins", below: "packages/web/", reason: "property of the Markdown component" },
  { name: "longestPrefix", reason: "the field's word: longest common prefix" },
];

const isExcepted = (path: string, name: string): boolean =>
  exceptions.some((exception) => exception.name === name && path.startsWith(exception.below ?? ""));

/** Files that must hold the words themselves. */
const ownFiles = new Set(["checks/words.ts", "checks/words.test.ts"]);
const rootPages = ["README.md", "GLOSSARY.md", "CONTRIBUTING.md"];
const extensions = /\.(?:ts|tsx|mts|cts|js|mjs|cjs|py|md|toml|sql|json)$/;

export function findReplacedWords(root = repositoryRoot): WordUse[] {
  const pages = rootPages
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
  return [...readSources(root, extensions, ["docs", "python"]), ...pages]
    .filter(({ path }) => !ownFiles.has(path) && !path.endsWith("package-lock.json"))
    .flatMap((file) => [...judgePath(file.path), ...judgeText(file)]);
}

function judgePath(path: string): WordUse[] {
  // The folder of measurements is called as in other projects.
  const own = path.replace(/^bench\/|(?<=^scripts\/)bench\.mjs$/, "");
  return own
    .split(/[/.]/)
    .flatMap(wordsOfName)
    .map((word) => ({ path, line: 0, word }));
}

function judgeText({ path, text }: SourceFile): WordUse[] {
  const { names, prose } = viewsOf(path, text);
  const isBench = /^bench\/|^scripts\/bench\.mjs$/.test(path);
  return [
    ...eachLine(names).flatMap(([line, content]) =>
      identifiersIn(path, content)
        .flatMap(wordsOfName)
        .filter((word) => !(isBench && word === "bench"))
        .map((word) => ({ path, line, word })),
    ),
    ...eachLine(prose).flatMap(([line, content]) => wordsOfText(path, content).map((word) => ({ path, line, word }))),
  ];
}

const eachLine = (text: string): [number, string][] => text.split("\n").map((content, index) => [index + 1, content]);

const identifiersIn = (path: string, text: string): string[] =>
  (text.match(/[A-Za-z_$][\w$]*/g) ?? []).filter((name) => !isExcepted(path, name));

const partsOf = (name: string): string[] =>
  name
    .replace(/([a-z\d])([A-Z])/g, "$1_$2")
    .replace(/([A-Z])([A-Z][a-z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z]+/);

function wordsOfName(name: string): string[] {
  const parts = partsOf(name).filter((part) => bannedWords.test(part) || bannedInNames.test(part));
  return bannedNames.test(name) ? [...parts, name] : parts;
}

function wordsOfText(path: string, text: string): string[] {
  const words = identifiersIn(path, text).flatMap((name) => [
    ...partsOf(name).filter((part) => bannedWords.test(part)),
    ...(bannedNames.test(name) ? [name] : []),
  ]);
  const phrases = bannedPhrases.flatMap((phrase) => text.match(phrase) ?? []);
  return [...words, ...phrases.filter((phrase) => !isExcepted(path, phrase))];
}

interface Views {
  /** Code without comments and quoted text. */
  names: string;
  /** The rest. */
  prose: string;
}

function viewsOf(path: string, text: string): Views {
  if (/\.(?:md|json|toml|sql)$/.test(path)) return { names: "", prose: text };
  if (path.endsWith(".py")) return splitPython(text);
  const names = viewSource(text).code;
  return { names, prose: without(text, names) };
}

function splitPython(text: string): Views {
  const quoted = /("""|''')[\s\S]*?\1|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|#[^\n]*/g;
  const names = text.replace(quoted, (found) => found.replace(/[^\n]/g, " "));
  return { names, prose: without(text, names) };
}

/** Same length and lines; blank wherever the other view has text. */
const without = (text: string, view: string): string =>
  Array.from(text.split(""), (char, at) => (char === "\n" || view[at] === " " ? char : " ")).join("");
