// Where skills are looked for: the repository's, the user's, and those of the administrator.
import { join } from "node:path";
import { directoriesBetween } from "../files/places.ts";

export type SkillScope = "admin" | "repository" | "user";

export interface SkillRoot {
  path: string;
  scope: SkillScope;
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

export function skillRoots({ root, cwd, userHome, agentHome, adminDirectory }: SkillPlaces): SkillRoot[] {
  const repository = directoriesBetween(root, cwd).flatMap((directory) =>
    repositoryFolders.map((folder) => join(directory, folder, "skills")),
  );
  const user = [join(userHome, ".agents", "skills"), join(agentHome, "skills")];
  return [
    { path: adminDirectory ?? "/etc/agentcli/skills", scope: "admin" },
    // The user's own folder may lie on the way, where the home directory is a repository.
    ...repository.filter((path) => !user.includes(path)).map((path): SkillRoot => ({ path, scope: "repository" })),
    ...user.map((path): SkillRoot => ({ path, scope: "user" })),
  ];
}
