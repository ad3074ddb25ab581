// Directories of skills: of the repository, the user, and the administrator.
import { join } from "node:path";
import { directoriesBetween } from "../files/directories.ts";

export type SkillScope = "admin" | "repository" | "user";

export interface SkillRoot {
  path: string;
  scope: SkillScope;
  /** Links must stay inside this directory; absent or null: no restriction. */
  within?: string | null | undefined;
}

/** A skill that is not read yet. */
export interface SkillPath extends Omit<SkillRoot, "path"> {
  /** Of its SKILL.md. */
  path: string;
}

export interface SkillDirectories {
  root: string;
  cwd: string;
  userHome: string;
  agentHome: string;
  /** Default: /etc/agentcli/skills. */
  adminDirectory?: string;
}

export const repositoryFolders = [".agents", ".agentcli", ".platform"];

/** For a server without a user, which has files of several owners: links that leave the repository are not followed. */
export const repositorySkillRoots = (root: string, cwd: string): SkillRoot[] =>
  foldersBetween(root, cwd).map((path) => ({ path, scope: "repository", within: root }));

export function skillRoots({ root, cwd, userHome, agentHome, adminDirectory }: SkillDirectories): SkillRoot[] {
  const repository = foldersBetween(root, cwd);
  const user = [join(userHome, ".agents", "skills"), join(agentHome, "skills")];
  return [
    { path: adminDirectory ?? "/etc/agentcli/skills", scope: "admin" },
    // The user's own folder may be among them, if the home directory is a repository.
    ...repository.filter((path) => !user.includes(path)).map((path): SkillRoot => ({ path, scope: "repository" })),
    ...user.map((path): SkillRoot => ({ path, scope: "user" })),
  ];
}

const foldersBetween = (root: string, cwd: string): string[] =>
  directoriesBetween(root, cwd).flatMap((directory) =>
    repositoryFolders.map((folder) => join(directory, folder, "skills")),
  );
