// Where Node comes in. Asking for the version loads nothing else.
import { join } from "node:path";
import { preload } from "@agentcli/command-line/compiled";
import { version } from "./version.ts";

const argv = process.argv.slice(2);
if (argv.length === 1 && (argv[0] === "--version" || argv[0] === "-V")) {
  process.stdout.write(`agentcli ${version}\n`);
} else {
  preload(join(__dirname, "chunks", "run.cjs"));
  void import("./main.ts").then(({ main }) => main(argv, __dirname));
}
