// Secrets for the operator's commands: over the database, of every team, user and environment.
import { ApiError, schema } from "../foundation/index.ts";
import { DotenvError, parseDotenv } from "./dotenv.ts";
import { ofEnvironment, ofTeam, ofUser, type SecretOwnerId } from "./owner.ts";
import {
  listSecrets,
  removeSecret,
  type SecretChange,
  type SecretRow,
  type SecretStore,
  type SetResult,
  setSecret,
  setSecrets,
} from "./store.ts";

export interface OwnerRequest {
  teamId: number;
  userId?: number | undefined;
  environmentId?: string | undefined;
}

/** All throw ApiError. */
export interface SecretOperator {
  set(change: SecretChange): Promise<SetResult>;
  /** Every variable of a `.env` file, or none. */
  importText(
    text: string,
    options: Pick<SecretChange, "type" | "phase" | "repos" | "hosts" | "uses">,
  ): Promise<SetResult[]>;
  list(): Promise<SecretRow[]>;
  remove(which: { name: string; id?: string | undefined }): Promise<void>;
}

export function openSecretOperator(store: SecretStore, request: OwnerRequest): SecretOperator {
  const owner = ownerOf(request);
  return {
    async set(change) {
      await check(change, change.name);
      return setSecret(store, owner, change);
    },
    async importText(text, options) {
      const entries = entriesIn(text).filter(({ value }) => value !== "");
      for (const { name, value, line } of entries) await check({ name, value }, `line ${line}: ${name}`);
      const changes = entries.map(({ name, value }) => ({ ...options, name, value }));
      return setSecrets(store, owner, changes);
    },
    list: () => listSecrets(store.db, owner),
    remove: (which) => removeSecret(store, owner, which),
  };
}

function ownerOf({ teamId, userId, environmentId }: OwnerRequest): SecretOwnerId {
  if (environmentId !== undefined) return ofEnvironment(teamId, environmentId);
  return userId === undefined ? ofTeam(teamId) : ofUser(teamId, userId);
}

function entriesIn(text: string) {
  try {
    return parseDotenv(text);
  } catch (error) {
    if (error instanceof DotenvError) throw new ApiError("validation_error", `${error.message}.`);
    throw error;
  }
}

const secretName = schema("secrets", "SecretName");
const secretValue = schema("secrets", "SecretValue");

async function check({ name, value }: { name: string; value: string }, where: string): Promise<void> {
  for (const read of [(await secretName()).safeParse(name), (await secretValue()).safeParse(value)])
    if (!read.success) throw new ApiError("validation_error", `${where}: ${read.error.issues[0]?.message}.`);
  if (value.includes("\0")) throw new ApiError("validation_error", `${where}: the value has a NUL character.`);
}
