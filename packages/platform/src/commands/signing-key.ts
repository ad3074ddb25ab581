// `platform signing-key`
import type { Invocation } from "../args.ts";
import type { Program } from "../program.ts";
import { openSigningKey, publishedKey } from "../signing/index.ts";
import { settingsFor } from "./settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  program.print(publishedKey(openSigningKey(settings.signingKey), settings.committer));
  return 0;
}
