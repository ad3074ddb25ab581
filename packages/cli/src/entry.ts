// Where Node comes in. Asking for the version loads nothing else.
import { join } from "node:path";
import { preload } from "@agentcli/command-line/compiled";
import { version } from "./version.ts";

export { requireFrom } from "@agentcli/command-line/compiled";

/** `findDirectory` tells where the built program is. */
export function start(findDirectory = () => __dirname): void {
  const argv = process.argv.slice(2);
  if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
    process.stdout.write(`agentcli ${version}\n`);
    return;
  }
  const directory = findDirectory();
  preload(join(directory, "chunks", "run.cjs"));
  void import("./main.ts").then(({ main }) => main(argv, directory));
}
