// Where skills are looked for: the repository's, the user's, and those of the administrator.
import { join } from "node:path";
import { directoriesBetween } from "../files/places.ts";

export type SkillScope = "admin" | "repository" | "user";

export interface SkillRoot {
  path: string;
  scope: SkillScope;
  /** Links may not lead out of this directory; absent or null: they may lead anywhere. */
  within?: string | null | undefined;
}

/** A skill that was not read yet. */
export interface FoundSkill extends Omit<SkillRoot, "path"> {
  /** Of its SKILL.md. */
  path: string;
}

export interface SkillPlaces {
  root: string;
  cwd: string;
  userHome: string;
  agentHome: string;
  /** /etc/agentcli/skills unless given. */
  adminDirectory?: string;
}

export const repositoryFolders = [".agents", ".agentcli", ".platform"];

/** For a server that has no user and keeps the files of others: what a repository links to outside is not read. */
export const repositorySkillRoots = (root: string, cwd: string): SkillRoot[] =>
  foldersBetween(root, cwd).map((path) => ({ path, scope: "repository", within: root }));

export function skillRoots({ root, cwd, userHome, agentHome, adminDirectory }: SkillPlaces): SkillRoot[] {
  const repository = foldersBetween(root, cwd);
  const user = [join(userHome, ".agents", "skills"), join(agentHome, "skills")];
  return [
    { path: adminDirectory ?? "/etc/agentcli/skills", scope: "admin" },
    // The user's own folder may lie on the way, where the home directory is a repository.
    ...repository.filter((path) => !user.includes(path)).map((path): SkillRoot => ({ path, scope: "repository" })),
    ...user.map((path): SkillRoot => ({ path, scope: "user" })),
  ];
}

const foldersBetween = (root: string, cwd: string): string[] =>
  directoriesBetween(root, cwd).flatMap((directory) =>
    repositoryFolders.map((folder) => join(directory, folder, "skills")),
  );
