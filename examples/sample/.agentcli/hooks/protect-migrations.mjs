// Refuses calls that may write to migrations/; exit code 2 blocks the call and the reason goes to the agent.
// It looks at words, so it refuses when in doubt. A guard against slips: a real boundary is the read-only sandbox.
import { readFileSync } from "node:fs";

const mentionsMigrations = /\bmigrations\b/;
const writingProgram = /\b(chmod|chown|cp|dd|install|ln|mkdir|mv|patch|rm|rmdir|rsync|shred|tee|touch|truncate|unlink)\b/;
const writingMode = /\bsed\b.*\s-\w*i|\bgit\s+(apply|checkout|clean|mv|restore|rm|stash)\b|\b(node|perl|python3?|ruby)\s+-/;
const redirection = />(?!\s*\/dev\/null|&\d)/;
const patchedFile = /^\*\*\* (?:(?:Add|Update|Delete) File|Move to): .*\bmigrations\//m;
const writingTool = /write|edit|create|move|delete|remove|rename/i;

const { tool_name: tool, tool_input: input = {} } = JSON.parse(readFileSync(0, "utf8"));

if (writes()) {
  process.stderr.write("files in migrations/ are never changed once they exist; leave them as they are");
  process.exit(2);
}

function writes() {
  if (tool === "apply_patch") return patchedFile.test(String(input.command));
  if (tool.startsWith("mcp__")) return writingTool.test(tool) && mentionsMigrations.test(JSON.stringify(input));
  const command = String(input.command ?? input.chars ?? "");
  return mentionsMigrations.test(command) && [writingProgram, writingMode, redirection].some((sign) => sign.test(command));
}
