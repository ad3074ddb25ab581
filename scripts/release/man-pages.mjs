// Manual pages from the help of a program: one for the program, with a section for each of its commands.
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** `help` runs the program and returns what it prints. */
export function writeManPages(directory, program, help) {
  const overview = help("--help");
  const version = /\d+\.\d+\.\d+\S*/.exec(help("--version"))?.[0] ?? "";
  const [summary = ""] = overview.split("\n");
  const commands = [...new Set([...overview.matchAll(/^ {2}([a-z][a-z-]+)(?= )/gm)].map((match) => match[1]))];
  const sections = commands.flatMap((name) => {
    const text = helpOf(help, name);
    return text === undefined ? [] : [`.SH ${name.toUpperCase()}`, verbatim(text)];
  });
  const description = summary.replace(/^.*?[:,—-]\s+/, "");
  const page = [
    `.TH ${program.toUpperCase()} 1 "" "${program} ${version}"`,
    ".SH NAME",
    `${program} \\- ${toRoff(description)}`,
    ".SH DESCRIPTION",
    verbatim(overview),
    ...sections,
  ];
  writeFileSync(join(directory, `${program}.1`), `${page.join("\n")}\n`);
}

/** Undefined for a word that only looks like a command. */
function helpOf(help, name) {
  try {
    return help("help", name);
  } catch {
    return undefined;
  }
}

const verbatim = (text) => [".nf", ...text.trimEnd().split("\n").map(toRoff), ".fi"].join("\n");

/** A dot or a quote at the start of a line is a request to the formatter. */
const toRoff = (line) =>
  line
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replace(/^([.'])/, "\\&$1");
