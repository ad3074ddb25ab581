// `platform secrets import`
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { readValue } from "../read-value.ts";
import { kindOf, withSecrets } from "./owner.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const kind = kindOf(invocation);
  const text = await readValue(invocation.text("file"), program);
  const done = await withSecrets(invocation, program, (secrets) => secrets.importText(text, kind));
  program.print(done.map(({ version, isNew }) => `${version.name}  ${isNew ? "new" : "changed"}\n`).join(""));
  return 0;
}
