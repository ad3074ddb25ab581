// Repositories that the platform keeps itself: a row each, and a bare repository in the data directory.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Kysely } from "kysely";
import type { Tables } from "../db/index.ts";
import { type Layout, layOut } from "../git/index.ts";
import { ApiProblem } from "../http/index.ts";
import { branchesIn, importFrom, pointHead } from "./import.ts";

export interface HostedRepository {
  id: number;
  teamId: number;
  name: string;
  defaultBranch: string;
  /** Git's directory. Written to by git and by us only. */
  directory: string;
}

export interface HostedRepositories {
  /** Throws ApiProblem where the name cannot be one or is taken. */
  create(wish: RepositoryWish, signal: AbortSignal): Promise<HostedRepository>;
  /** Undefined where the team has none of that name, whoever else may have. */
  find(teamId: number, name: string): Promise<HostedRepository | undefined>;
  list(teamId: number): Promise<HostedRepository[]>;
  /** One that began empty takes what was pushed first for its usual branch. */
  adoptBranch(repository: HostedRepository): Promise<void>;
}

export interface RepositoryWish {
  teamId: number;
  name: string;
  /** A repository or a plain directory of this machine to begin with; null: empty. */
  from: string | null;
}

export interface RepositoriesOptions {
  db: Kysely<Tables>;
  dataDirectory: string;
}

export function openRepositories({ db, dataDirectory }: RepositoriesOptions): HostedRepositories {
  const home = join(dataDirectory, "repositories");
  const hosted = (row: { id: number; team_id: number; name: string; default_branch: string }): HostedRepository => ({
    id: row.id,
    teamId: row.team_id,
    name: row.name,
    defaultBranch: row.default_branch,
    directory: join(home, `${row.id}.git`),
  });
  return {
    async create({ teamId, name, from }, signal) {
      checkName(name);
      await mkdir(home, { recursive: true, mode: 0o700 });
      return db.transaction().execute(async (transaction) => {
        const row = await transaction
          .insertInto("hosted_repositories")
          .values({ team_id: teamId, name, default_branch: "main" })
          .onConflict((conflict) => conflict.doNothing())
          .returningAll()
          .executeTakeFirst();
        if (row === undefined)
          throw new ApiProblem(
            "repository_name_conflict",
            `There is a repository "${name}" already. Choose another name.`,
          );
        const { directory } = hosted(row);
        const branch = await fill(directory, from, signal);
        await transaction
          .updateTable("hosted_repositories")
          .set({ default_branch: branch })
          .where("id", "=", row.id)
          .execute();
        return hosted({ ...row, default_branch: branch });
      });
    },
    async find(teamId, name) {
      if (!isRepositoryName(name)) return undefined;
      const row = await db
        .selectFrom("hosted_repositories")
        .selectAll()
        .where("team_id", "=", teamId)
        .where("name", "=", name)
        .executeTakeFirst();
      return row && hosted(row);
    },
    async list(teamId) {
      const rows = await db
        .selectFrom("hosted_repositories")
        .selectAll()
        .where("team_id", "=", teamId)
        .orderBy("name")
        .execute();
      return rows.map(hosted);
    },
    adoptBranch: (repository) => adoptBranch(db, repository),
  };
}

async function adoptBranch(db: Kysely<Tables>, { id, directory, defaultBranch }: HostedRepository): Promise<void> {
  const branches = await branchesIn(directory);
  const [first] = branches;
  if (first === undefined || branches.includes(defaultBranch)) return;
  const row = db.updateTable("hosted_repositories").where("id", "=", id).where("default_branch", "=", defaultBranch);
  const { numUpdatedRows } = await row.set({ default_branch: first }).executeTakeFirst();
  // Whoever was faster has chosen.
  if (numUpdatedRows > 0n) await pointHead(directory, first);
}

export const isRepositoryName = (name: string): boolean =>
  /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/.test(name) && !/\.(?:git|lock)$|\.\./i.test(name);

function checkName(name: string): void {
  if (!isRepositoryName(name))
    throw new ApiProblem(
      "validation_error",
      `"${name}" cannot be the name of a repository. Use letters, digits, dots, dashes and underscores, at most 100.`,
    );
}

/** Bytes of one push. */
const mostPushed = 2 * 1024 * 1024 * 1024;

const hostedLayout: Layout = {
  objectFormat: "sha1",
  isPartial: false,
  head: "main",
  references: new Map(),
  borrowed: [],
  config: [
    ["core", { bare: "true" }],
    [
      "receive",
      {
        fsckObjects: "true",
        maxInputSize: String(mostPushed),
        unpackLimit: "1",
        autogc: "false",
        denyDeleteCurrent: "refuse",
        // Heads of pull requests are written by us.
        hideRefs: "refs/pull",
      },
    ],
    ["uploadpack", { allowFilter: "true", allowAnySHA1InWant: "true" }],
  ],
};

async function fill(directory: string, from: string | null, signal: AbortSignal): Promise<string> {
  await rm(directory, { recursive: true, force: true });
  try {
    await layOut(directory, hostedLayout);
    return from === null ? hostedLayout.head : await importFrom(from, directory, signal);
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
}
