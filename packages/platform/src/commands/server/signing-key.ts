// `platform signing-key`
import { openSigningKey, publishedKey } from "../../repositories/signing/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  program.print(publishedKey(openSigningKey(settings.signingKey), settings.committer));
  return 0;
}
