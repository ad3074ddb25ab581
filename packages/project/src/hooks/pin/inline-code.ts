// Code that stands in a command, such as `python3 -I -c '…'`: it is read like a script, but may load and start nothing.
import { isBuiltin } from "node:module";
import type { CodeUses } from "./code-calls.ts";
import type { Language } from "./includes.ts";
import { readJavascript } from "./javascript/read.ts";
import { readPerl } from "./perl.ts";
import { isHarmlessModule, readPython } from "./python.ts";
import { readRuby } from "./ruby.ts";
import { Unpinnable, type Variables } from "./shell-reader.ts";

export function checkInlineCode(code: string, language: Language, variables: Variables): void {
  const { modules, commands } = usesOf(code, language, variables);
  const isKnown = language === "python" ? isHarmlessModule : isBuiltin;
  // What is imported from a module is a module, or a part of it.
  const other = modules.find(({ name }) => !name.endsWith("?") && !isKnown(name));
  if (other && /^[./]|\.rb$/.test(other.name)) throw new Unpinnable(`its code loads ${other.name} from the workspace`);
  if (other) throw new Unpinnable(`what the package ${other.name} runs or loads is not known`);
  if (commands.length > 0) throw new Unpinnable(`its code starts ${commands[0]?.text}`);
}

function usesOf(code: string, language: Language, variables: Variables): CodeUses {
  const files = (names: string[]): CodeUses => ({ modules: names.map((name) => ({ name, at: 0 })), commands: [] });
  switch (language) {
    case "javascript":
      return readJavascript(code, variables);
    case "python":
      return readPython(code, variables);
    case "perl":
      return files(readPerl(code));
    case "ruby":
      return files(readRuby(code));
    case "shell":
    case "data":
    case "other":
      return files([]);
  }
}
