// Creates databases for tests in other processes, migrated by the code it was built from.
// Reads lines, `create` or `drop URL`, and answers each with one, {"url"}, {} or {"error"}. Exits when its input ends.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freshDatabase, type TestDatabase } from "./database.ts";

const databases = new Map<string, TestDatabase>();
const program = readFileSync(fileURLToPath(import.meta.url));
const template = `built_${createHash("sha256").update(program).digest("hex").slice(0, 12)}`;

for await (const line of createInterface({ input: process.stdin })) {
  const answer = await handle(line).catch((error: unknown) => ({ error: String(error) }));
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
for (const database of databases.values()) await database.close();

async function handle(line: string): Promise<{ url?: string }> {
  const [verb, url = ""] = line.split(" ");
  if (verb === "create") {
    const database = await freshDatabase(template);
    databases.set(database.url, database);
    return { url: database.url };
  }
  await databases.get(url)?.close();
  databases.delete(url);
  return {};
}
