// `platform secrets set`
import { minFormLength } from "@agentcli/engine";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { readValue } from "../read-value.ts";
import { secretLine } from "./list.ts";
import { kindOf, requireName, withSecrets } from "./owner.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const name = requireName(invocation, "platform secrets set NAME < FILE");
  const kind = kindOf(invocation);
  const value = withoutLineEnd(await readValue(invocation.text("file"), program));
  const change = { name, value, ...kind, id: invocation.text("id"), isAddition: invocation.has("add") };
  const { version } = await withSecrets(invocation, program, (secrets) => secrets.set(change));
  program.print(secretLine(version));
  if (version.type !== "environment_variable" && value.trim().length < minFormLength)
    program.print(`A value of fewer than ${minFormLength} characters is not redacted: what prints it shows it.\n`);
  return 0;
}

/** A single line loses its end, which editors and echo add. Several lines, such as a key, stay as they are. */
const withoutLineEnd = (text: string): string => (/^[^\n]*\n$/.test(text) ? text.replace(/\r?\n$/, "") : text);
