// Proposes an environment.json from the files of a repository: lock files, CI workflows, dev containers, a Dockerfile. Pure.
import type { EnvironmentFile } from "@agentcli/protocol/environment-file";
import { readDevContainer } from "./dev-container.ts";
import { findProjectCopies } from "./dockerfile.ts";
import type { RepositoryFiles } from "./repository-files.ts";

export interface EnvironmentProposal {
  environment: EnvironmentFile;
  /** What each part follows from, and what was left out; for people. */
  reasons: string[];
}

export function proposeEnvironment(files: RepositoryFiles): EnvironmentProposal {
  const reasons: string[] = [];
  const container = readDevContainer(files, reasons);
  const base = container.build || container.image ? {} : proposeDockerfile(files, reasons);
  const install =
    container.install ?? joinCommands([...systemPackages(files, reasons), ...dependencies(files, reasons)]);
  const terminals = proposeTerminals(files, reasons);
  const { build, image, start, ports } = { ...base, ...container };
  return {
    environment: {
      ...(build && { build }),
      ...(image && { image }),
      ...(install && { install }),
      ...(start && { start }),
      ...(terminals.length > 0 && { terminals }),
      ...(ports && ports.length > 0 && { ports }),
    },
    reasons,
  };
}

const joinCommands = (commands: string[]): string | undefined =>
  commands.length === 0 ? undefined : commands.join(" && ");

/** File → command. The first of a group that is there decides. */
const installers: [string, string][][] = [
  [
    ["pnpm-lock.yaml", "corepack enable && pnpm install --frozen-lockfile"],
    ["yarn.lock", "corepack enable && yarn install --immutable"],
    ["bun.lock", "bun install --frozen-lockfile"],
    ["bun.lockb", "bun install --frozen-lockfile"],
    ["package-lock.json", "npm ci"],
    ["npm-shrinkwrap.json", "npm ci"],
    ["package.json", "npm install"],
  ],
  [
    ["uv.lock", "uv sync --frozen"],
    ["poetry.lock", "poetry install"],
    ["Pipfile.lock", "pipenv sync --dev"],
    ["requirements.txt", "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"],
  ],
  [["go.sum", "go mod download"]],
  [["Cargo.lock", "cargo fetch --locked"]],
  [["Gemfile.lock", "bundle install"]],
  [["composer.lock", "composer install --no-interaction"]],
  [
    ["gradlew", "./gradlew dependencies"],
    ["mvnw", "./mvnw --batch-mode dependency:go-offline"],
    ["pom.xml", "mvn --batch-mode dependency:go-offline"],
  ],
];

function dependencies({ paths }: RepositoryFiles, reasons: string[]): string[] {
  return installers.flatMap((group) => {
    const [file, command] = group.find(([name]) => paths.includes(name)) ?? [];
    if (file === undefined || command === undefined) return [];
    reasons.push(`install: ${command} (${file})`);
    return [command];
  });
}

/** What workflows install with apt-get before they test. */
function systemPackages({ paths, read }: RepositoryFiles, reasons: string[]): string[] {
  const packages = new Set<string>();
  for (const path of paths.filter(isWorkflow)) {
    const found = aptPackages(read(path) ?? "");
    if (found.length > 0) reasons.push(`install: ${found.join(", ")} with apt-get (${path})`);
    for (const name of found) packages.add(name);
  }
  const names = [...packages].toSorted();
  return names.length === 0
    ? []
    : [`apt-get update && apt-get install --yes --no-install-recommends ${names.join(" ")}`];
}

const isWorkflow = (path: string): boolean => /^\.github\/workflows\/[^/]+\.ya?ml$|^\.gitlab-ci\.yml$/.test(path);

/** Only plain names: what comes from a variable or an expression is left out. */
function aptPackages(workflow: string): string[] {
  const joined = workflow.replace(/\\\r?\n\s*/g, " ");
  return [...joined.matchAll(/\bapt(?:-get)?\s+(?:-\S+\s+)*install\s+([^\n&|;#]+)/g)]
    .flatMap(([, rest = ""]) => rest.trim().split(/\s+/))
    .filter((word) => /^[a-z0-9][a-z0-9+.-]+$/.test(word));
}

function proposeDockerfile({ paths, read }: RepositoryFiles, reasons: string[]): Pick<EnvironmentFile, "build"> {
  const path = [".platform/Dockerfile", "Dockerfile"].find((name) => paths.includes(name));
  if (path === undefined) return {};
  const isOwn = path.startsWith(".platform/");
  const [copy] = findProjectCopies(read(path) ?? "", { dockerfile: path, context: isOwn ? ".platform" : "" });
  if (copy) {
    reasons.push(`${path} is not used: line ${copy.line}: ${copy.reason}`);
    return {};
  }
  reasons.push(`build: ${path}`);
  return { build: isOwn ? { dockerfile: "Dockerfile" } : { dockerfile: `../${path}`, context: ".." } };
}

function proposeTerminals({ paths, read }: RepositoryFiles, reasons: string[]): { name: string; command: string }[] {
  if (!paths.includes("package.json")) return [];
  const name = ["dev", "start"].find((script) => hasScript(read("package.json") ?? "", script));
  if (name === undefined) return [];
  reasons.push(`terminals: npm run ${name} (package.json)`);
  return [{ name, command: `npm run ${name}` }];
}

function hasScript(text: string, name: string): boolean {
  try {
    return typeof JSON.parse(text)?.scripts?.[name] === "string";
  } catch {
    // Not a package.json that npm would read either.
    return false;
  }
}
