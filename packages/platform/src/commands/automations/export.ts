// `platform automations export`
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { stringify } from "yaml";
import { type AutomationDocument, readAutomationFile, readExisting } from "../../automations/as-code/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { withAutomations } from "./automations.ts";
import { directoryOf, listFiles, readText, teamOf } from "./files.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  withAutomations(invocation, program, async ({ view }) => {
    const context = { invocation, program, view };
    const directory = directoryOf(context);
    const existing = await readExisting(view, await teamOf(context));
    mkdirSync(directory, { recursive: true });
    const files = filesById(directory);
    for (const { id, document } of existing) {
      const path = files.get(id) ?? freePath(directory, document);
      writeFileSync(path, stringify(document, { lineWidth: 0 }));
      program.print(`${relative(program.cwd, path)}\n`);
    }
    return 0;
  });

/** An automation that was renamed stays in its file. */
function filesById(directory: string): Map<string, string> {
  const files = new Map<string, string>();
  for (const path of listFiles(directory)) {
    const read = readAutomationFile(readText(path));
    if (read.kind === "valid" && read.document.id !== undefined) files.set(read.document.id, path);
  }
  return files;
}

function freePath(directory: string, { name, id = "" }: AutomationDocument): string {
  const word =
    name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "-")
      .replace(/^-+|-+$/g, "")
      .slice(0, 60) || "automation";
  const path = join(directory, `${word}.yaml`);
  return existsSync(path) ? join(directory, `${word}-${id.slice("auto-".length)}.yaml`) : path;
}
