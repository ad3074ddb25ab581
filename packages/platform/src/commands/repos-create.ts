// `platform repos create`
import { resolve } from "node:path";
import type { Invocation } from "../args.ts";
import { openDatabase } from "../db/index.ts";
import { openGitHost } from "../githost/index.ts";
import { ApiProblem } from "../http/index.ts";
import { provideTeam } from "../principals/index.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";
import { findServer } from "../server-file.ts";
import { silentLog } from "../telemetry/index.ts";
import { openVault } from "../vault/index.ts";
import { asOperator } from "./operator.ts";
import { settingsFor } from "./settings.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  asOperator(() => createRepository(invocation, program));

async function createRepository(invocation: Invocation, program: Program): Promise<number> {
  const [name] = invocation.positionals;
  if (!name) throw new UsageProblem("A repository needs a name: platform repos create NAME [--from PATH].");
  const { settings } = settingsFor(invocation, program);
  const { host, port } = settings.listen;
  const url = findServer(settings.dataDirectory)?.url ?? settings.publicUrl ?? `http://${host}:${port}`;
  const database = await openDatabase(settings, silentLog);
  try {
    const { db } = database;
    const vault = await openVault(db, settings.kekFile);
    const githost = openGitHost({ db, vault, dataDirectory: settings.dataDirectory, serverUrls: () => [url] });
    const { id: teamId } = await provideTeam(db, vault, invocation.text("team") ?? "default");
    const from = invocation.text("from");
    const wish = { teamId, name, from: from === undefined ? null : resolve(program.cwd, from) };
    const isThere = invocation.has("if-missing") && (await githost.repositories.find(teamId, name));
    if (!isThere) await githost.repositories.create(wish, program.signal);
    program.print(`${githost.cloneUrl(name)}\n`);
    return 0;
  } catch (error) {
    if (error instanceof ApiProblem) throw new UsageProblem(error.message);
    throw error;
  } finally {
    await database.close();
  }
}
