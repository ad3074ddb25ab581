// `platform repos create`
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { openDatabase } from "../../foundation/db/index.ts";
import { ApiError } from "../../foundation/http/index.ts";
import { openObjects } from "../../foundation/objects/index.ts";
import { silentLog } from "../../foundation/telemetry/index.ts";
import { openVault } from "../../foundation/vault/index.ts";
import { ensureTeam } from "../../identity/principals/index.ts";
import { openGitHost } from "../../repositories/githost/index.ts";
import { openSigningKey } from "../../repositories/signing/index.ts";
import { findServer } from "../../server-file.ts";
import { anchorEntries } from "../anchor.ts";
import type { Invocation } from "../command.ts";
import { asOperator } from "../operator.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

export const run = (invocation: Invocation, program: Program): Promise<number> =>
  asOperator(() => createRepository(invocation, program));

async function createRepository(invocation: Invocation, program: Program): Promise<number> {
  const [name] = invocation.positionals;
  if (!name) throw new CommandError("usage", "A repository needs a name: platform repos create NAME [--from PATH].");
  const { settings } = settingsFor(invocation, program);
  const { host, port } = settings.listen;
  const url = findServer(settings.dataDirectory)?.url ?? settings.publicUrl ?? `http://${host}:${port}`;
  const database = await openDatabase(settings, silentLog);
  try {
    const { db } = database;
    const vault = await openVault(db, settings);
    const { dataDirectory, committer } = settings;
    const sign = (text: Buffer) => openSigningKey(settings.signingKey).sign(text);
    const objects = openObjects(settings);
    const signer = { platform: committer, sign };
    const githost = openGitHost({ db, vault, dataDirectory, objects, signer, serverUrls: () => [url] });
    const { id: teamId } = await ensureTeam(db, vault, invocation.text("team") ?? "default");
    const from = invocation.text("from");
    const request = { teamId, name, from: from === undefined ? null : resolve(program.cwd, from) };
    const exists = invocation.has("if-missing") && (await githost.repositories.find(teamId, name));
    if (!exists) await githost.repositories.create(request, program.signal);
    await anchorEntries({ db, vault, settings }, program);
    program.print(`${githost.cloneUrl(name)}\n`);
    return 0;
  } catch (error) {
    if (error instanceof ApiError) throw new CommandError("usage", error.message);
    throw error;
  } finally {
    await database.close();
  }
}
