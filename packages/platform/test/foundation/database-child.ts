// Opens the database of a data directory, commits a team, prints a line and waits to be killed.
import { openDatabase } from "../../src/foundation/db/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";

const [dataDirectory = ""] = process.argv.slice(2);
const { db } = await openDatabase(
  { dataDirectory, databaseUrl: null, databaseConnections: 2, variables: process.env },
  silentLog,
);
await db
  .insertInto("teams")
  .values({ name: "of the child", data_key: Buffer.from("k") })
  .execute();
console.log("committed");
