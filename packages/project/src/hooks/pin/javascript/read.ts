// What a script in JavaScript loads and starts. What is called has to be shown by the script; anything else is refused.
import type { CodeUses } from "../code-calls.ts";
import { refuse } from "../code-tokens.ts";
import type { Variables } from "../shell-reader.ts";
import { checkEnvironment } from "./environment.ts";
import { checkGlobals } from "./globals.ts";
import { checkMembers, checkNestedWrites } from "./members.ts";
import { readModules } from "./modules.ts";
import { commandOf, readCalls } from "./processes.ts";
import { parseAny, type Tree } from "./tree.ts";
import { openCode } from "./values.ts";

export function readJavascript(text: string, variables: Variables): CodeUses {
  try {
    const [first, second] = parseAny(text).map((tree) => readTree(tree, variables));
    if (second && JSON.stringify(first) !== JSON.stringify(second))
      throw refuse(0, "its code is read in two ways, as a module and as a script");
    return first as CodeUses;
  } catch (error) {
    if (error instanceof RangeError) throw refuse(0, "its code is nested too deeply");
    throw error;
  }
}

function readTree(tree: Tree, variables: Variables): CodeUses {
  const uses: CodeUses = { modules: [], commands: [] };
  const code = openCode(tree, variables);
  const starters = readModules(code, uses);
  checkGlobals(code);
  checkEnvironment(code);
  checkMembers(code);
  const calls = readCalls(code, starters);
  for (const call of calls) uses.commands.push({ text: commandOf(call, code), at: call.node.start });
  if (calls.length > 0) checkNestedWrites(code);
  return uses;
}
