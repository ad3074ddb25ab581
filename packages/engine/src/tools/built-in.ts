// The tools every thread has.
import { applyPatch } from "./apply-patch.ts";
import { editFile } from "./edit-file.ts";
import { editNotebook } from "./edit-notebook.ts";
import { execCommand } from "./exec-command.ts";
import { glob } from "./glob.ts";
import { grepFiles } from "./grep-files.ts";
import { listDir } from "./list-dir.ts";
import { readFile } from "./read-file.ts";
import { killSession, listSessions } from "./sessions.ts";
import type { Tool } from "./tool.ts";
import { updatePlan } from "./update-plan.ts";
import { viewImage } from "./view-image.ts";
import { writeStdin } from "./write-stdin.ts";

export const builtInTools: Tool[] = [
  execCommand,
  writeStdin,
  listSessions,
  killSession,
  applyPatch,
  editFile,
  editNotebook,
  readFile,
  listDir,
  grepFiles,
  glob,
  viewImage,
  updatePlan,
];
