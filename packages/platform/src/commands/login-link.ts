// `platform login-link`
import type { Invocation } from "../args.ts";
import { loginLink } from "../pages/index.ts";
import { openPlatform } from "../platform.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { findServer } from "../server-file.ts";
import { asOperator } from "./operator.ts";
import { settingsFor } from "./settings.ts";
import { readEmail } from "./users-set.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  const server = findServer(settings.dataDirectory);
  if (!server) throw new UsageProblem(`No server runs on ${settings.dataDirectory}. Start one: platform serve.`);
  const email = invocation.positionals.length > 0 ? readEmail(invocation, "platform login-link [EMAIL]") : null;
  const platform = await openPlatform(settings, program.log);
  try {
    program.print(`${await asOperator(() => loginLink(platform, server.url, email))}\n`);
  } finally {
    await platform.close();
  }
  return 0;
}
