// Where Node comes in.
import { join } from "node:path";
import { preload } from "@agentcli/command-line/compiled";

const argv = process.argv.slice(2);
if (argv.includes("start")) preload(join(__dirname, "chunks", "start.cjs"));
void import("./main.ts").then(({ main }) => main(argv, __dirname));
