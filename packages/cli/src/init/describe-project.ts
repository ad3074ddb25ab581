// What a project is and how it is built, from its files: the beginning of an AGENTS.md.
import { existsSync, readdirSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { readUnblocked } from "@agentcli/project";

export function describeProject(directory: string): string {
  const commands = commandsOf(directory);
  const folders = foldersOf(directory);
  const sections = [
    `# ${basename(directory)}`,
    summaryOf(directory),
    commands.length === 0 ? "" : `## Commands\n\n${commands.map((command) => `- \`${command}\``).join("\n")}`,
    folders.length === 0 ? "" : `## Layout\n\n${folders.map((folder) => `- \`${folder}/\``).join("\n")}`,
    "## Conventions\n\n- Keep changes small, and run the tests before finishing.",
  ];
  return `${sections.filter((text) => text !== "").join("\n\n")}\n`;
}

/** The first paragraph of the README, or the description of the package. */
function summaryOf(directory: string): string {
  const { description } = manifest(directory);
  const readme = readdirSync(directory).find((name) => /^readme(\.md)?$/i.test(name));
  const paragraphs = readme ? textOf(join(directory, readme)).split(/\n\s*\n/) : [];
  const first = paragraphs.find((text) => /^[A-Za-z`*_]/.test(text.trim()));
  return first?.trim().slice(0, 600) ?? (typeof description === "string" ? description : "");
}

const scripts = ["build", "test", "lint", "typecheck", "types", "format", "dev", "start"];

function commandsOf(directory: string): string[] {
  const has = (name: string) => existsSync(join(directory, name));
  const known = Object.keys((manifest(directory).scripts as Record<string, unknown> | undefined) ?? {});
  const runner = has("pnpm-lock.yaml") ? "pnpm" : has("yarn.lock") ? "yarn" : has("bun.lock") ? "bun run" : "npm run";
  const targets = has("Makefile")
    ? [...textOf(join(directory, "Makefile")).matchAll(/^([\w-]+):(?!=)/gm)].map(([, name]) => `make ${name}`)
    : [];
  return [
    ...scripts.filter((name) => known.includes(name)).map((name) => `${runner} ${name}`),
    ...targets.slice(0, 8),
    ...(has("Cargo.toml") ? ["cargo build", "cargo test"] : []),
    ...(has("go.mod") ? ["go build ./...", "go test ./..."] : []),
    ...(has("pyproject.toml") || has("pytest.ini") ? ["python -m pytest"] : []),
    ...(has("pom.xml") ? ["mvn test"] : []),
    ...(has("build.gradle") || has("build.gradle.kts") ? ["./gradlew test"] : []),
  ];
}

const uninteresting = new Set(["node_modules", "dist", "build", "target", "vendor", "coverage"]);

const foldersOf = (directory: string): string[] =>
  readdirSync(directory)
    .filter(
      (name) => !name.startsWith(".") && !uninteresting.has(name) && statSync(join(directory, name)).isDirectory(),
    )
    .sort()
    .slice(0, 20);

function manifest(directory: string): Record<string, unknown> {
  try {
    return JSON.parse(textOf(join(directory, "package.json")) || "{}") as Record<string, unknown>;
  } catch {
    return {};
  }
}

function textOf(path: string): string {
  return existsSync(path) ? readUnblocked(path) : "";
}
