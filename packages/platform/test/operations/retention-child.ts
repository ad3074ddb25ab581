// Applies the retention rules once, in a process that can be killed.
import { openQueries } from "../../src/foundation/db/connect.ts";
import { type RuleOptions, rulesOf } from "./retention-rules.ts";

const { databaseUrl, ...options }: Omit<RuleOptions, "db"> & { databaseUrl: string } = JSON.parse(
  process.argv[2] ?? "",
);
const db = openQueries({ url: databaseUrl }, 4, () => {});
for (const rule of rulesOf({ db, ...options })) for await (const _count of rule.remove());
await db.destroy();
