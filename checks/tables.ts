// A table of the platform has one owner, the group that inserts into it: no other group inserts, updates or deletes there.
import { type Problem, readSources, repositoryRoot } from "./tree.ts";

const home = "packages/platform/src/";

/** Migrations build the tables; a restore copies whole tables in. */
const isExempt = (path: string): boolean =>
  path.startsWith(`${home}foundation/db/migrations/`) || path.startsWith(`${home}operations/backup/`);

const users = `${home}identity/principals/users.ts`;

/**
 * Writes by a group that does not own the table. Removing a user, or proving the address of one, closes every way in and out,
 * in one transaction; a step left to another group could be forgotten.
 */
const exceptions: Record<string, string> = {
  "identity deletes from source_accounts": users,
  "identity deletes from secrets": users,
  "identity deletes from agent_secrets": users,
  "identity deletes from user_settings": users,
  "identity deletes from environments": users,
  "identity deletes from workers": users,
  "identity deletes from webhooks": users,
  "identity updates runs": users,
};

interface Write {
  verb: "inserts into" | "updates" | "deletes from";
  table: string;
  group: string;
  path: string;
}

export function findTableProblems(root = repositoryRoot): Problem[] {
  const sources = readSources(root, /\.ts$/).filter(({ path }) => path.startsWith(home) && !isExempt(path));
  const writes = sources.flatMap(({ path, text }) => findWrites(path, text));
  const owners = ownersOf(writes);
  return [
    ...sources.flatMap(({ path, text }) => findUnnamed(path, text)),
    ...writes.flatMap((write) => judge(write, owners.get(write.table) ?? new Set())),
  ];
}

function ownersOf(writes: Write[]): Map<string, Set<string>> {
  const owners = new Map<string, Set<string>>();
  for (const { verb, table, group } of writes)
    if (verb === "inserts into") owners.set(table, (owners.get(table) ?? new Set()).add(group));
  return owners;
}

function judge({ verb, table, group, path }: Write, owners: Set<string>): Problem[] {
  if (exceptions[`${group} ${verb} ${table}`] === path) return [];
  if (owners.size === 1 && owners.has(group)) return [];
  const [owner = "no group"] = [...owners].filter((other) => other !== group);
  return [`${path}: ${group} ${verb} ${table}, which ${owner} owns. Call a function of its index.ts instead.`];
}

const verbs = {
  insertInto: "inserts into",
  updateTable: "updates",
  deleteFrom: "deletes from",
  "insert into": "inserts into",
  update: "updates",
  "delete from": "deletes from",
} as const;

const builders = /\b(insertInto|updateTable|deleteFrom)\(\s*"(\w+)"/g;
/** SQL in lower case, in texts and templates alike. */
const statements = /\b(insert into|delete from) (\w+)|\b(update) (?:only )?(\w+)(?: as \w+)? set\b/g;

function findWrites(path: string, text: string): Write[] {
  const [first = "", ...rest] = path.slice(home.length).split("/");
  const group = rest.length > 0 ? first : "the program";
  const matches = [...text.matchAll(builders), ...text.replace(/\s+/g, " ").matchAll(statements)];
  return matches.map(([, verb, table, update, updated]) => ({
    verb: verbs[(verb ?? update) as keyof typeof verbs],
    table: table ?? updated ?? "",
    group,
    path,
  }));
}

/** A table in a variable cannot be checked. */
const findUnnamed = (path: string, text: string): Problem[] =>
  [...text.matchAll(/\b(insertInto|updateTable|deleteFrom)\(\s*([^"\s)][^)]*)/g)].map(
    ([, builder, name]) =>
      `${path}: ${builder}(${name}) must name its table as a text, so that its owner can be checked.`,
  );
