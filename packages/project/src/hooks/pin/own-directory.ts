// The directory of a shell script, as scripts find it: `$(dirname "$0")`.
import { dirname, resolve } from "node:path";
import type { Reader } from "./shell-reader.ts";

const self = String.raw`(?:\$0|\$\{0\}|\$BASH_SOURCE|\$\{BASH_SOURCE(?:\[0\])?\})`;
const named = `"?${self}"?`;
const real = String.raw`"?\$\((?:readlink -f|realpath) (?:-- )?${named}\)"?`;
const directory = String.raw`\$\(dirname (?:-- )?(?:${named}|${real})\)`;
const below = String.raw`(?<below>(?:\/[\w.-]+)*)\/?`;
const quiet = String.raw`(?: *(?:&>|>|2>) ?(?:\/dev\/null|&1))*`;
const forms = [
  directory,
  String.raw`\$\{(?:0|BASH_SOURCE(?:\[0\])?)%\/\*\}`,
  String.raw`\$\(cd (?:-P )?(?:-- )?(?:"${directory}${below}"|${directory})${quiet} && pwd(?: -P)?\)`,
].map((form) => new RegExp(form, "y"));

/** `$(dirname "$0")` and other usual ways to write it; null for anything else. */
export function readOwnDirectory(reader: Reader): string | null {
  const { source, at, variables } = reader;
  for (const form of forms) {
    form.lastIndex = at;
    const match = form.exec(source);
    const script = match && variables.get(match[0].includes("BASH_SOURCE") ? "BASH_SOURCE" : "0");
    if (match === null || script == null) continue;
    reader.at += match[0].length;
    return resolve(dirname(script), `.${match.groups?.below ?? ""}`);
  }
  return null;
}
