// What package.json files ask for and the lock file does not have: npm install would fetch it without a hash.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
/** npm leaves out optional ones that are not for this platform. */
const kindsOfInstalled = ["dependencies", "peerDependencies"];

/** One sentence for each difference. */
export function findUnlocked(root) {
  const { packages = {} } = read(join(root, "package-lock.json"));
  const differences = Object.entries(packages).flatMap(([path, entry]) => {
    const manifest = join(root, path, "package.json");
    const isOwn = !path.includes("node_modules/") && existsSync(manifest);
    const asked = isOwn ? read(manifest) : entry;
    const changed = isOwn ? kinds.filter((kind) => !isSame(asked[kind], entry[kind])) : [];
    const names = (isOwn ? kinds : kindsOfInstalled).flatMap((kind) => namesOf(asked, kind));
    const missing = [...new Set(names)].filter((name) => !isLocked(name, path, packages));
    const hasHash = isOwn || entry.link || entry.integrity;
    return [
      ...changed.map((kind) => `${join(path, "package.json")}: its ${kind} are not those of package-lock.json.`),
      ...missing.map((name) => `package-lock.json has no ${name}, which ${path || "package.json"} asks for.`),
      ...(hasHash ? [] : [`package-lock.json has no hash of ${path}.`]),
    ];
  });
  const { overrides } = existsSync(join(root, "package.json")) ? read(join(root, "package.json")) : {};
  return overrides
    ? [...differences, "package.json: its overrides put other packages in the place of locked ones."]
    : differences;
}

const read = (path) => JSON.parse(readFileSync(path, "utf8"));

/** Without optional peers, which npm does not install. */
const namesOf = (asked, kind) =>
  Object.keys(asked[kind] ?? {}).filter(
    (name) => kind !== "peerDependencies" || !asked.peerDependenciesMeta?.[name]?.optional,
  );

const isSame = (one = {}, other = {}) =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());

/** Beside the package, or in a directory above it. */
function isLocked(name, path, packages) {
  for (let at = path; ; at = at.slice(0, Math.max(0, at.lastIndexOf("/")))) {
    if (packages[`${at === "" ? "" : `${at}/`}node_modules/${name}`]) return true;
    if (at === "") return false;
  }
}
