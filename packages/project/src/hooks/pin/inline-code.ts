// Code that stands in a command, such as `python3 -I -c '…'`: it is read like a script, but may load and start nothing.
import { isBuiltin } from "node:module";
import { readJavascript } from "./javascript/read.ts";
import { isHarmlessModule, readPython } from "./python.ts";
import { Unpinnable, type Variables } from "./shell-reader.ts";

export function checkInlineCode(code: string, language: string, variables: Variables): void {
  if (language !== "javascript" && language !== "python") return;
  const { modules, commands } = language === "python" ? readPython(code, variables) : readJavascript(code, variables);
  const isKnown = language === "python" ? isHarmlessModule : isBuiltin;
  // What is imported from a module is a module, or a part of it.
  const other = modules.find(({ name }) => !name.endsWith("?") && !isKnown(name));
  if (other !== undefined) throw new Unpinnable(`what the package ${other.name} runs or loads is not known`);
  if (commands.length > 0) throw new Unpinnable(`its code starts ${commands[0]?.text}`);
}
