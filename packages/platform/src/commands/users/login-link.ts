// `platform login-link`
import { CommandError } from "@agentcli/command-line";
import { openPlatformContext } from "../../foundation/context.ts";
import { loginLink } from "../../pages/index.ts";
import { findServer } from "../../server-file.ts";
import type { Invocation } from "../command.ts";
import { asOperator } from "../operator.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";
import { readEmail } from "./set.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  const server = findServer(settings.dataDirectory);
  if (!server)
    throw new CommandError("usage", `No server is running on ${settings.dataDirectory}. Start one: platform serve.`);
  const email = invocation.positionals.length > 0 ? readEmail(invocation, "platform login-link [EMAIL]") : null;
  const platform = await openPlatformContext(settings, program.log);
  try {
    program.print(`${await asOperator(() => loginLink(platform, server.url, email))}\n`);
  } finally {
    await platform.close();
  }
  return 0;
}
