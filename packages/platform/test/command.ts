// Commands of the program on the database and data directory of a test server.
import { parseCommandLine } from "../src/args.ts";
import type { Program } from "../src/program.ts";
import { silentLog } from "../src/telemetry/index.ts";
import type { TestPlatform } from "./platform.ts";

/** What it prints. */
export async function command({ platform }: TestPlatform, ...argv: string[]): Promise<string> {
  const { dataDirectory, databaseUrl } = platform.settings;
  const line = parseCommandLine([...argv, "--data", dataDirectory]);
  if (line.kind !== "command") throw new Error(`${argv.join(" ")} is no command`);
  let printed = "";
  const program: Program = {
    variables: { ...process.env, PLATFORM_DATABASE_URL: databaseUrl ?? "" },
    userHome: dataDirectory,
    cwd: dataDirectory,
    directory: dataDirectory,
    print: (text) => {
      printed += text;
    },
    log: silentLog,
    signal: new AbortController().signal,
  };
  await (await line.command.load()).run(line.invocation, program);
  return printed.trim();
}
