// What npm does with the lock file is what this repository says: it runs nothing of what it installs, and takes no package
// that another setting, another package manager or a script of ours would bring.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "./tree.ts";

/** Whole lines: npm reads quotes, lists, sections and a lone carriage return in ways that are easily overlooked. */
const npmrcLines = ["omit-lockfile-registry-resolved=true", "fund=false", "audit=false", "ignore-scripts=true"];

/** `packages` are the directories of ours. */
export function judgeNpmSettings(root: string, packages: string[]): Problem[] {
  if (!existsSync(join(root, "package.json"))) return [];
  return [
    ...judgeNpmrc(root),
    ...judgeRoot(root),
    ...["", ...packages].flatMap((location) => judgeInstallation(root, location)),
    ...findOthers(root, packages),
  ];
}

function judgeNpmrc(root: string): Problem[] {
  const path = join(root, ".npmrc");
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  const unknown = lines.filter((line) => !npmrcLines.includes(line));
  return [
    ...(lines.includes("ignore-scripts=true")
      ? []
      : [".npmrc: set ignore-scripts=true; packages run nothing when they are installed."]),
    ...unknown.map((line) => `.npmrc: remove ${JSON.stringify(line)}; other settings of npm are those of the user.`),
  ];
}

interface Manifest {
  workspaces?: unknown;
  overrides?: unknown;
  packageManager?: unknown;
  scripts?: Record<string, string>;
}

const manifestIn = (directory: string): Manifest => {
  const path = join(directory, "package.json");
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")) : {};
};

function judgeRoot(root: string): Problem[] {
  const { workspaces, overrides, packageManager } = manifestIn(root);
  const isUsual = workspaces === undefined || JSON.stringify(workspaces) === '["packages/*"]';
  return [
    ...(isUsual ? [] : ["package.json: workspaces other than packages/* are not compared with the lock file."]),
    ...(overrides === undefined
      ? []
      : ["package.json: remove overrides; they put other packages in the place of locked ones."]),
    ...(packageManager === undefined
      ? []
      : ["package.json: remove packageManager; npm alone reads package-lock.json."]),
  ];
}

/** npm runs them for users of a published package, and builds what a binding.gyp describes without being asked. */
const installScripts = /^(?:pre|post)?(?:install|prepare)$/;

function judgeInstallation(root: string, location: string): Problem[] {
  const scripts = Object.keys(manifestIn(join(root, location)).scripts ?? {}).filter((name) =>
    installScripts.test(name),
  );
  const where = join(location, "package.json");
  return [
    ...scripts.map((name) => `${where}: remove the script ${name}; nothing runs when our packages are installed.`),
    ...(existsSync(join(root, location, "binding.gyp"))
      ? [`${join(location, "binding.gyp")}: remove it; npm would build it.`]
      : []),
  ];
}

const others = [
  ...["yarn.lock", ".yarnrc", ".yarnrc.yml", ".pnp.cjs", "pnpm-lock.yaml", "pnpm-workspace.yaml", ".pnpmfile.cjs"],
  ...["bun.lock", "bun.lockb", "bunfig.toml"],
];

function findOthers(root: string, packages: string[]): Problem[] {
  const names = [...others, ...packages.map((location) => `${location}/.npmrc`)];
  return names
    .filter((name) => existsSync(join(root, name)))
    .map(
      (name) => `${name}: remove it; packages are installed by npm, with package-lock.json and the .npmrc beside it.`,
    );
}
