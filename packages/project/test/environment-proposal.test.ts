// What `agentcli env init` proposes from the files of a repository.
import { expect, test } from "vitest";
import { proposeEnvironment, readEnvironment } from "../src/environment/index.ts";

/** Every proposal is a file that the platform accepts. */
function propose(files: Record<string, string>) {
  const proposal = proposeEnvironment({ paths: Object.keys(files), read: (path) => files[path] });
  expect(readEnvironment(JSON.stringify(proposal.environment))).toMatchObject({ status: "valid" });
  return proposal;
}

test("lock files and the packages of workflows become install, and a dev script becomes a terminal", () => {
  const workflow = [
    "jobs:",
    "  test:",
    "    steps:",
    "      - run: sudo apt-get update",
    "      - run: |",
    "          sudo apt-get install -y libpq-dev \\",
    "            ffmpeg $MORE && echo done",
    "      - run: sudo apt-get -qq install --no-install-recommends $NAME jq",
  ].join("\n");
  const { environment, reasons } = propose({
    "package.json": '{"scripts": {"dev": "vite", "start": "node ."}}',
    "pnpm-lock.yaml": "",
    "package-lock.json": "",
    "go.sum": "",
    ".github/workflows/test.yml": workflow,
  });
  expect(environment).toEqual({
    install:
      "apt-get update && apt-get install --yes --no-install-recommends ffmpeg jq libpq-dev && corepack enable && pnpm install --frozen-lockfile && go mod download",
    terminals: [{ name: "dev", command: "npm run dev" }],
  });
  expect(reasons).toContain("install: libpq-dev, ffmpeg, jq with apt-get (.github/workflows/test.yml)");
  expect(reasons).toContain("terminals: npm run dev (package.json)");
});

test("a dev container gives base, commands and ports, with comments in its file", () => {
  const container = `{
    // The image "of" the team
    "build": { "dockerfile": "Dockerfile", "context": ".." },
    "postCreateCommand": ["npm", "ci", "--loglevel", "a b"],
    "postStartCommand": { "db": "pg_ctl start", "cache": "redis-server --daemonize yes" },
    "forwardPorts": [3000, "db:5432",],
  }`;
  const { environment } = propose({ ".devcontainer/devcontainer.json": container, "package-lock.json": "" });
  expect(environment).toEqual({
    build: { dockerfile: "../.devcontainer/Dockerfile", context: ".." },
    install: "npm ci --loglevel 'a b'",
    start: "pg_ctl start && redis-server --daemonize yes",
    ports: [{ name: "Port 3000", port: 3000 }],
  });
  expect(propose({ ".devcontainer.json": '{"image": "debian:12"}' }).environment).toEqual({ image: "debian:12" });
  expect(propose({ ".devcontainer.json": "{" }).reasons).toEqual([
    ".devcontainer.json is not used: it is not valid JSON.",
  ]);
});

test("a Dockerfile is the base unless it copies the project, and then the line says so", () => {
  expect(propose({ Dockerfile: "FROM debian\nRUN true\n" }).environment).toEqual({
    build: { dockerfile: "../Dockerfile", context: ".." },
  });
  const { environment, reasons } = propose({ Dockerfile: "FROM node\nCOPY . /app\n", "package-lock.json": "" });
  expect(environment).toEqual({ install: "npm ci" });
  expect(reasons[0]).toMatch(/^Dockerfile is not used: line 2: COPY copies the project/);
  expect(propose({}).environment).toEqual({});
});
