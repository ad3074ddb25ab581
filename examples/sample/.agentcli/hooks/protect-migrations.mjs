// Refuses shell commands that may write to migrations/; exit code 2 blocks the call and the reason goes to the agent.
// It looks at words, so it refuses when in doubt. A guard against slips: a real boundary is the read-only sandbox.
import { readFileSync } from "node:fs";

const mentionsMigrations = /\bmigrations\b/;
const writingProgram = /\b(chmod|chown|cp|dd|install|ln|mkdir|mv|patch|rm|rmdir|rsync|shred|tee|touch|truncate|unlink)\b/;
const writingMode = /\bsed\b.*\s-\w*i|\bgit\s+(apply|checkout|clean|mv|restore|rm|stash)\b|\b(node|perl|python3?|ruby)\s+-/;
const redirection = />(?!\s*\/dev\/null|&\d)/;

const payload = JSON.parse(readFileSync(0, "utf8"));
const command = String(payload.tool_input?.command ?? "");
const writes = [writingProgram, writingMode, redirection].some((sign) => sign.test(command));

if (mentionsMigrations.test(command) && writes) {
  process.stderr.write("files in migrations/ are never changed once they exist; leave them as they are");
  process.exit(2);
}
