// Commands of the program on the database and data directory of a test server.
import { parseCommandLine } from "@agentcli/command-line";
import type { Program } from "../../src/commands/program.ts";
import { syntax } from "../../src/commands/syntax.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import type { TestPlatform } from "./platform.ts";

/** Returns its output. */
export const command = (tested: Pick<TestPlatform, "platform">, ...argv: string[]): Promise<string> =>
  commandWith("", tested, argv);

/** With this text on standard input. */
export async function commandWith(
  input: string,
  { platform }: Pick<TestPlatform, "platform">,
  argv: string[],
): Promise<string> {
  const { dataDirectory, databaseUrl } = platform.settings;
  const line = parseCommandLine([...argv, "--data", dataDirectory], syntax);
  if (line.kind !== "command") throw new Error(`${argv.join(" ")} is not a command`);
  let printed = "";
  const program: Program = {
    variables: { ...process.env, PLATFORM_DATABASE_URL: databaseUrl ?? "" },
    userHome: dataDirectory,
    cwd: dataDirectory,
    directory: dataDirectory,
    readInput: async () => input,
    print: (text) => {
      printed += text;
    },
    log: silentLog,
    signal: new AbortController().signal,
  };
  await (await line.command.load()).run(line.invocation, program);
  return printed.trim();
}
