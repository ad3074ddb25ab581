// Input that is known whole, as a file without a name: unlike a pipe it can be opened again as /dev/stdin.
import { mkdtempSync, openSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A descriptor to read from the beginning; to be closed here once the child has it. */
export function openInputFile(text: string): number {
  if (text === "") return openSync("/dev/null", "r");
  const directory = mkdtempSync(join(tmpdir(), ".agent-input-"));
  try {
    const path = join(directory, "input");
    writeFileSync(path, text, { mode: 0o600, flag: "wx" });
    return openSync(path, "r");
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}
