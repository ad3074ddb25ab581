// `agentcli login`: keeps an API key for later runs. The key comes from a pipe or is typed unseen.
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import { authPath, saveKey } from "../../credentials/auth-file.ts";
import { askForKey, readPipedKey } from "../../credentials/key-input.ts";
import type { Program } from "../../program.ts";

export async function run(invocation: Invocation, { environment, reporter, signal }: Program): Promise<number> {
  if (invocation.text("api-key") !== undefined) throw onCommandLine();
  const isPiped = invocation.has("with-api-key");
  const key = isPiped ? await readPipedKey(signal) : await askForKey((text) => void process.stderr.write(text), signal);
  saveKey(environment.agentHome, key);
  reporter.log(`Successfully logged in. The key is kept in ${authPath(environment.agentHome)}.`);
  return exitCodes.completed.code;
}

/** Not repeated in the message either: it may be on its way into a log. */
const onCommandLine = (): CommandError =>
  new CommandError(
    "usage",
    "A key on the command line can be read by others and stays in the shell history. Pipe it in: printenv MY_KEY | agentcli login --with-api-key. Treat that key as leaked and replace it.",
  );
