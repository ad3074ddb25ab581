// New files that are not handed off because they look like secrets or leftovers of tools. Files that the repository already
// has, and directories in which it has files, are its own business. Pure. Names are bytes as latin1 characters.

export interface HeldBackFile {
  /** A directory ends with a slash and stands for everything in it. */
  path: string;
  reason: "secret" | "leftover";
}

export interface NewFiles {
  /** Paths that would be added. */
  added: string[];
  /** Paths that the repository has. */
  known: string[];
}

export interface HeldBackFinder {
  /** The file, or the directory around it, that is held back; undefined if the path is handed off. */
  find(path: string): HeldBackFile | undefined;
}

export function openHeldBackFinder({ added, known }: NewFiles): HeldBackFinder {
  const knownPaths = new Set(known);
  const knownDirectories = new Set(known.flatMap(toolDirectoriesOf));
  const projects = new Set(["", ...[...known, ...added].filter(isManifest).map(parentOf)]);
  /** `build` inside a source directory may be a module; beside a project file, or at the top, it is build output. */
  const isOutput = (directory: string) =>
    !outputNames.test(nameOf(directory.slice(0, -1))) || projects.has(parentOf(directory.slice(0, -1)));
  return {
    find(path) {
      if (knownPaths.has(path)) return undefined;
      if (isSecretPath(path)) return { path, reason: "secret" };
      const directory = toolDirectoriesOf(path).find((one) => !knownDirectories.has(one) && isOutput(one));
      if (directory !== undefined) return { path: directory, reason: "leftover" };
      return isLeftoverName(nameOf(path)) ? { path, reason: "leftover" } : undefined;
    },
  };
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);

function isSecretPath(path: string): boolean {
  const name = nameOf(path);
  if (/^\.env/i.test(name)) return !/[._-](?:example|sample|template|tpl|dist)$/i.test(name);
  return (
    secretFile.test(name) ||
    /(?:^|\/)(?:\.aws\/(?:credentials|config)|\.docker\/config\.json|\.kube\/config|\.ssh\/.+|\.gnupg\/.+)$/.test(path)
  );
}

/** Private keys, key stores, and files in which tools keep passwords. */
const secretFile =
  /^(?:id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|.*\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc\.key)|\.netrc|_netrc|\.pgpass|\.my\.cnf|\.pypirc|\.npmrc|\.htpasswd|\.git-credentials|\.vault-token|credentials\.json|client_secret.*\.json|service[-_]account.*\.json|.*\.tfstate(?:\.backup)?|secrets?\.(?:ya?ml|json|toml))$/i;

const leftoverFile =
  /^(?:\.DS_Store|Thumbs\.db|desktop\.ini|\.coverage|\.eslintcache|\.stylelintcache|nohup\.out|core\.\d+|npm-debug\.log.*|yarn-error\.log|.*\.(?:pyc|pyo|class|o|obj|swp|swo|orig|rej|bak|tmp|log|tsbuildinfo)|.*~)$/;

/** A link with the name of such a directory is as much of a leftover. */
const isLeftoverName = (name: string): boolean =>
  leftoverFile.test(name) || (toolDirectory.test(name) && !outputNames.test(name));

/** Build output that could also be the name of a module. */
const outputNames = /^(?:dist|build|out|target|coverage)$/;

const toolDirectory =
  /^(?:node_modules|bower_components|__pycache__|\.pytest_cache|\.mypy_cache|\.ruff_cache|\.hypothesis|\.tox|\.nox|\.venv|venv|\.eggs|.*\.egg-info|\.cache|\.parcel-cache|\.turbo|\.next|\.nuxt|\.svelte-kit|\.angular|\.gradle|\.nyc_output|htmlcov|\.terraform|dist|build|out|target|coverage)$/;

/** The directories of a path that tools write, outermost first, with a slash at the end. */
function toolDirectoriesOf(path: string): string[] {
  const names = path.split("/").slice(0, -1);
  return names.flatMap((name, index) => (toolDirectory.test(name) ? [`${names.slice(0, index + 1).join("/")}/`] : []));
}

/** Project files of package managers and build tools. */
const isManifest = (path: string): boolean =>
  /^(?:package\.json|deno\.jsonc?|Cargo\.toml|go\.mod|pom\.xml|build\.gradle(?:\.kts)?|pyproject\.toml|setup\.py|CMakeLists\.txt|Makefile|meson\.build|Gemfile|composer\.json|.*\.(?:csproj|sln|gemspec))$/.test(
    path.slice(path.lastIndexOf("/") + 1),
  );
