// Repositories hosted by the platform: each has a database row and a bare repository in the data directory.
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { Kysely } from "kysely";
import { ApiError, type Tables } from "../../foundation/index.ts";
import { type Layout, layOut, RepositoryFault, readReferences } from "../git/index.ts";
import type { HostedRepository } from "./hosted-repository.ts";
import { branchesIn, importFrom, pointHead } from "./import.ts";
import type { SharedRepositories } from "./shared-repositories.ts";
import { readTips } from "./tips.ts";

export interface HostedRepositories {
  /** Whether each server has a copy, so that changes must be published. */
  isShared: boolean;
  /** Throws ApiError if the name is invalid or already in use. */
  checkNew(teamId: number, name: string): Promise<void>;
  /** Throws ApiError as `checkNew` does. */
  create(request: CreateRepositoryRequest, signal: AbortSignal): Promise<HostedRepository>;
  /** Undefined if this team has no repository with that name. Other teams may have one. */
  find(teamId: number, name: string): Promise<HostedRepository | undefined>;
  list(teamId: number): Promise<HostedRepository[]>;
  /** Makes the first pushed branch the default of a repository that was created empty. */
  updateDefaultBranch(repository: HostedRepository): Promise<void>;
  /** After a change: other servers see it once this has ended. Throws RepositoryFault if they changed the same. */
  publish(repository: HostedRepository): Promise<void>;
  /** Before a push is received, with `end` after it. Null: there is nothing to publish. */
  beginPush(repository: HostedRepository): Push | null;
}

export interface Push {
  /** Throws RepositoryFault if another server changed the same since the push began. */
  publish(): Promise<void>;
  end(): void;
}

export interface CreateRepositoryRequest {
  teamId: number;
  name: string;
  /** A repository or plain directory of this machine to import; null creates an empty repository. */
  from: string | null;
}

export interface RepositoriesOptions {
  db: Kysely<Tables>;
  dataDirectory: string;
  /** Absent: all servers have one data directory. */
  shared?: SharedRepositories | undefined;
}

export function openRepositories({ db, dataDirectory, shared }: RepositoriesOptions): HostedRepositories {
  const root = join(dataDirectory, "repositories");
  const fromRow = (row: { id: number; team_id: number; name: string; default_branch: string }): HostedRepository => ({
    id: row.id,
    teamId: row.team_id,
    name: row.name,
    defaultBranch: row.default_branch,
    directory: join(root, `${row.id}.git`),
  });
  return {
    isShared: shared !== undefined,
    async checkNew(teamId, name) {
      checkName(name);
      if ((await findRow(db, teamId, name)) !== undefined) throw nameConflict(name);
    },
    async create({ teamId, name, from }, signal) {
      checkName(name);
      await mkdir(root, { recursive: true, mode: 0o700 });
      const created = await db.transaction().execute(async (transaction) => {
        const row = await transaction
          .insertInto("hosted_repositories")
          .values({ team_id: teamId, name, default_branch: "main" })
          .onConflict((conflict) => conflict.doNothing())
          .returningAll()
          .executeTakeFirst();
        if (row === undefined) throw nameConflict(name);
        const { directory } = fromRow(row);
        const branch = await fill(directory, from, signal);
        await transaction
          .updateTable("hosted_repositories")
          .set({ default_branch: branch, tips: JSON.stringify(await readTips({ directory })) })
          .where("id", "=", row.id)
          .execute();
        return fromRow({ ...row, default_branch: branch });
      });
      await shared?.sync(created);
      return created;
    },
    async find(teamId, name) {
      const row = isRepositoryName(name) ? await findRow(db, teamId, name) : undefined;
      if (row === undefined) return undefined;
      const repository = fromRow(row);
      if (shared && !(await shared.isCurrent(repository, row.version))) await shared.sync(repository);
      return repository;
    },
    list: async (teamId) => (await listRows(db, teamId)).map(fromRow),
    updateDefaultBranch: (repository) => updateDefaultBranch(db, repository),
    async publish(repository) {
      const lost = (await shared?.sync(repository)) ?? [];
      if (lost.length > 0) throw movedElsewhere(lost);
    },
    beginPush: (repository) => (shared ? beginPush(shared, repository) : null),
  };
}

function beginPush(shared: SharedRepositories, repository: HostedRepository): Push {
  const { lost, end } = shared.watch(repository);
  return {
    end,
    async publish() {
      await shared.sync(repository);
      if (lost.size > 0) throw movedElsewhere([...lost]);
    },
  };
}

const nameConflict = (name: string) =>
  new ApiError("repository_name_conflict", `Repository "${name}" already exists. Choose another name.`);

const listRows = (db: Kysely<Tables>, teamId: number) =>
  db.selectFrom("hosted_repositories").selectAll().where("team_id", "=", teamId).orderBy("name").execute();

const findRow = (db: Kysely<Tables>, teamId: number, name: string) =>
  db
    .selectFrom("hosted_repositories")
    .leftJoin("hosted_repository_saves", "repository_id", "id")
    .select(["id", "team_id", "name", "default_branch", "version"])
    .where("team_id", "=", teamId)
    .where("name", "=", name)
    .executeTakeFirst();

const movedElsewhere = (names: string[]) =>
  new RepositoryFault(
    "branch_moved",
    `Another server changed ${names.join(", ")} in the meantime, so nothing was pushed to it. Fetch, then push again.`,
  );

async function updateDefaultBranch(
  db: Kysely<Tables>,
  { id, directory, defaultBranch }: HostedRepository,
): Promise<void> {
  if ((await readReferences(directory, [`refs/heads/${defaultBranch}`])).size > 0) return;
  const [first] = await branchesIn(directory);
  if (first === undefined) return;
  const row = db.updateTable("hosted_repositories").where("id", "=", id).where("default_branch", "=", defaultBranch);
  const { numUpdatedRows } = await row.set({ default_branch: first }).executeTakeFirst();
  // No row changes if a concurrent push has already set the default branch.
  if (numUpdatedRows > 0n) await pointHead(directory, first);
}

export const isRepositoryName = (name: string): boolean =>
  /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/.test(name) && !/\.(?:git|lock)$|\.\./i.test(name);

function checkName(name: string): void {
  if (!isRepositoryName(name))
    throw new ApiError(
      "validation_error",
      `"${name}" cannot be the name of a repository. Use letters, digits, dots, dashes and underscores, at most 100.`,
    );
}

const maxPushBytes = 2 * 1024 * 1024 * 1024;

export const hostedLayout: Layout = {
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
        maxInputSize: String(maxPushBytes),
        unpackLimit: "1",
        autogc: "false",
        denyDeleteCurrent: "refuse",
        // Only the platform writes the heads of pull requests.
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
