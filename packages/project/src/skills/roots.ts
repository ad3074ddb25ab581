// Directories of skills: of the repository, the user, and the administrator.
import { join } from "node:path";
import { directoriesBetween } from "../files/directories.ts";

export type SkillScope = "admin" | "repository" | "user";

export interface SkillRoot {
  path: string;
  scope: SkillScope;
  /** Links must stay inside this directory; absent or null: no restriction. */
  within?: string | null | undefined;
  /** The project. A file that is a link must stay in it or in its own folder; folders may be links out of it. */
  project?: string;
  /** Belongs to another tool: the project's own skills of the same name win. */
  otherTool?: boolean;
}

/** A skill that is not read yet. */
export interface SkillPath extends Omit<SkillRoot, "path" | "project"> {
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
  /** Skills of other tools. */
  otherTools: "read" | "ignored";
}

export const repositoryFolders = [".agents", ".agentcli", ".platform"];
export const otherToolFolders = [".codex", ".claude"];

/** For a server without a user, which has files of several owners: links that leave the repository are not followed. */
export const repositorySkillRoots = ({
  root,
  cwd,
  otherTools,
}: Pick<SkillDirectories, "root" | "cwd" | "otherTools">): SkillRoot[] => [
  ...foldersBetween(root, cwd).map((path): SkillRoot => ({ path, scope: "repository", within: root })),
  ...(otherTools === "ignored" ? [] : otherToolRoots(root, cwd)),
];

const otherToolRoots = (root: string, cwd: string): SkillRoot[] =>
  directoriesBetween(root, cwd).flatMap((directory) =>
    otherToolFolders.map(
      (folder): SkillRoot => ({
        path: join(directory, folder, "skills"),
        scope: "repository",
        within: root,
        otherTool: true,
      }),
    ),
  );

export function skillRoots(directories: SkillDirectories): SkillRoot[] {
  const { root, cwd, userHome, agentHome, adminDirectory, otherTools } = directories;
  const repository = foldersBetween(root, cwd);
  const user = [join(userHome, ".agents", "skills"), join(agentHome, "skills")];
  return [
    { path: adminDirectory ?? "/etc/agentcli/skills", scope: "admin" },
    // The user's own folder may be among them, if the home directory is a repository.
    ...repository
      .filter((path) => !user.includes(path))
      .map((path): SkillRoot => ({ path, scope: "repository", project: root })),
    ...user.map((path): SkillRoot => ({ path, scope: "user" })),
    ...(otherTools === "ignored" ? [] : [...ofUser(userHome), ...otherToolRoots(root, cwd)]),
  ];
}

const ofUser = (userHome: string): SkillRoot[] =>
  otherToolFolders.map((folder) => ({ path: join(userHome, folder, "skills"), scope: "user", otherTool: true }));

const foldersBetween = (root: string, cwd: string): string[] =>
  directoriesBetween(root, cwd).flatMap((directory) =>
    repositoryFolders.map((folder) => join(directory, folder, "skills")),
  );
