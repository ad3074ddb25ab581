// The entry point of the built program.
import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { main } from "./main.ts";

await main(process.argv.slice(2), dirname(fileURLToPath(import.meta.url)));
