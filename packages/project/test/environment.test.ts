// `.platform/environment.json`: what is accepted, what is refused and how the refusal reads.
import { readFileSync } from "node:fs";
import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildPaths, describeProblem, findProjectCopies, readEnvironment } from "../src/environment/index.ts";

const schema = JSON.parse(
  readFileSync(new URL("../../protocol/generated/environment.schema.json", import.meta.url), "utf8"),
);
const validateSchema = new Ajv2020({ strict: false }).compile(schema);

const problemsOf = (text: string): string[] => {
  const reading = readEnvironment(text);
  return reading.status === "valid" ? [] : reading.problems.map(describeProblem);
};

const everyMember = {
  name: "Shop",
  user: "ubuntu",
  install: "npm ci",
  start: "sudo service postgresql start",
  terminals: [{ name: "web", command: "npm run dev" }],
  ports: [{ name: "web", port: 3000 }],
  build: { dockerfile: "Dockerfile", context: "." },
  repositoryDependencies: ["https://github.com/acme/library"],
  agentCanUpdateSnapshot: false,
  egress: { mode: "inherit_plus", allowlist: ["*.example.com"] },
  mcpServerAllowlist: ["linear"],
};

test("every member is read as it is written", () => {
  expect(readEnvironment(JSON.stringify(everyMember))).toEqual({ status: "valid", environment: everyMember });
  expect(readEnvironment("\uFEFF{}")).toEqual({ status: "valid", environment: {} });
});

describe("a bad file is refused with file, line, column, member and reason", () => {
  const cases: [string, string, string[]][] = [
    ["an unknown member", '{\n  "instal": "npm ci"\n}', ["2:3: instal: unknown member; remove it"]],
    ["$schema", '{"$schema": "x"}', ["1:2: $schema: unknown member; remove it"]],
    [
      "an unknown member of a terminal",
      '{"terminals": [\n{"name": "a", "command": "b", "cwd": "/"}]}',
      ["2:31: terminals[0].cwd: unknown member; remove it"],
    ],
    ["a member of the wrong type", '{"install": 1}', ["1:2: install: Invalid input: expected string, received number"]],
    [
      "a missing member",
      '{\n "build": {}\n}',
      ["2:2: build.dockerfile: Invalid input: expected string, received undefined"],
    ],
    [
      "two bases",
      '{"image": "debian:13",\n "build": {"dockerfile": "Dockerfile"}}',
      ["1:2: image: build is the base already; keep one of them"],
    ],
    [
      "a snapshot that agents may update, of an image",
      '{"image": "debian:13", "agentCanUpdateSnapshot": true}',
      ["1:24: agentCanUpdateSnapshot: cannot be true with build or image: only a snapshot can be updated"],
    ],
    ["a member given twice", '{"start": "a",\n"start": "b"}', ["2:1: start: is given twice; remove one of them"]],
    ["a trailing comma", '{"start": "a",\n}', ["2:1: a comma before } is not allowed in JSON"]],
    ["a comment", '{\n// web\n"start": "a"}', ["2:1: expected the name of a member in double quotes"]],
    [
      "an open quote",
      '{"start": "a}',
      ["1:11: start: invalid text: an unclosed quote, a line break or an invalid escape in it"],
    ],
    ["an empty file", "", ["1:1: unexpected end of file"]],
    ["a list", "[]", ["1:1: Invalid input: expected object, received array"]],
    ["more after the end", "{} {}", ["1:4: unexpected text after the end of the document"]],
    ["an abyss", `{"name": ${"[".repeat(100)}`, [`1:74: name${"[0]".repeat(64)}: more than 64 levels deep`]],
  ];
  test.each(cases)("%s", (_, text, expected) => {
    expect(problemsOf(text)).toEqual(expected.map((line) => `.platform/environment.json:${line}`));
  });

  test("a file that is too large", () => {
    const text = JSON.stringify({ name: "a".repeat(300 * 1024) });
    expect(problemsOf(text)).toEqual([".platform/environment.json:1:1: is larger than 256 KiB"]);
  });
});

describe("paths of build are relative to .platform and stay in the repository", () => {
  test.each([
    [{ dockerfile: "Dockerfile" }, { dockerfile: ".platform/Dockerfile", context: ".platform" }],
    [
      { dockerfile: "./Dockerfile", context: "." },
      { dockerfile: ".platform/Dockerfile", context: "" },
    ],
    [
      { dockerfile: "../Dockerfile", context: "./" },
      { dockerfile: "Dockerfile", context: "" },
    ],
    [
      { dockerfile: "../ci/Dockerfile", context: ".." },
      { dockerfile: "ci/Dockerfile", context: "" },
    ],
    [
      { dockerfile: "images/web", context: "images" },
      { dockerfile: ".platform/images/web", context: ".platform/images" },
    ],
    [
      { dockerfile: "Dockerfile", context: "../app/" },
      { dockerfile: ".platform/Dockerfile", context: "app" },
    ],
  ])("%j", (build, paths) => {
    expect(problemsOf(JSON.stringify({ build }))).toEqual([]);
    expect(buildPaths(build)).toEqual(paths);
  });

  test.each(["/etc/passwd", "../../Dockerfile", "a/../../Dockerfile", "..", "", "a\\b", "a//b", "a/", "a\u0000b"])(
    "dockerfile %j is refused",
    (dockerfile) => {
      expect(problemsOf(JSON.stringify({ build: { dockerfile } }))).not.toEqual([]);
    },
  );

  test.each(["/", "../..", "../../other", "a/../..", "", ".../../..", "a\nb"])("context %j is refused", (context) => {
    expect(problemsOf(JSON.stringify({ build: { dockerfile: "Dockerfile", context } }))).not.toEqual([]);
  });
});

describe("a Dockerfile that copies the project is refused", () => {
  const root = { dockerfile: ".platform/Dockerfile", context: "" };
  test.each([
    "COPY . /workspace",
    "copy ./ /workspace",
    "ADD --chown=1:1 . .",
    'COPY [".", "/workspace"]',
    "COPY \\\n  # all of it\n  . /workspace",
    "COPY package.json ./* /workspace/",
    "ONBUILD COPY / /src",
    'COPY "." /src',
    "RUN <<EOF\necho COPY\nEOF\nCOPY . /x",
  ])("%j", (instruction) => {
    const [problem] = findProjectCopies(`FROM debian:13\n${instruction}\n`, root);
    expect(problem && describeProblem(problem)).toMatch(
      /^\.platform\/Dockerfile:\d+:1: (?:COPY|ADD) copies the project into the image\. Copy only the files/,
    );
  });

  test.each([
    "COPY package.json package-lock.json /tmp/",
    "COPY --from=build . /usr/local",
    "RUN --mount=type=bind,source=.,target=/src make -C /src deps",
    "# COPY . /x",
    "RUN <<EOF\nCOPY . /x\nEOF",
    "ENV COPY=.",
  ])("%j copies less", (instruction) => {
    expect(findProjectCopies(`FROM debian:13\n${instruction}\n`, root)).toEqual([]);
  });

  test("the folder .platform as context holds nothing of the project", () => {
    const inside = { dockerfile: ".platform/Dockerfile", context: ".platform" };
    expect(findProjectCopies("FROM debian:13\nCOPY . /setup\n", inside)).toEqual([]);
  });
});

const words = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.string({ unit: "binary" }),
  fc.constantFrom("", ".", "..", "../Dockerfile", "Dockerfile", "a/b", "/a", "ubuntu", "inherit", "allow_all", "a\nb"),
  fc.integer({ min: 250, max: 260 }).map((count) => "𝒳".repeat(count)),
);
const nearValid = fc.record(
  {
    name: words,
    user: words,
    install: words,
    start: words,
    terminals: fc.array(fc.record({ name: words, command: words, cwd: words }, { requiredKeys: ["name"] })),
    ports: fc.array(fc.record({ name: words, port: fc.oneof(fc.integer(), fc.constantFrom(0, 1, 65_535, 1.5, "1")) })),
    snapshot: words,
    build: fc.record({ dockerfile: words, context: words }, { requiredKeys: [] }),
    image: words,
    repositoryDependencies: fc.array(words),
    agentCanUpdateSnapshot: fc.oneof(fc.boolean(), fc.constant(null)),
    egress: fc.record({ mode: words, allowlist: fc.array(words) }, { requiredKeys: [] }),
    mcpServerAllowlist: fc.array(words),
    other: fc.anything(),
  },
  { requiredKeys: [] },
);

test("the published schema and the reader agree about every document", () => {
  fc.assert(
    fc.property(fc.oneof({ weight: 5, arbitrary: nearValid }, { weight: 1, arbitrary: fc.jsonValue() }), (document) => {
      const text = JSON.stringify(document) ?? "null";
      expect(readEnvironment(text).status).toBe(validateSchema(JSON.parse(text)) ? "valid" : "invalid");
    }),
    { numRuns: 1500 },
  );
});

test("any text is read as JSON.parse reads it, or refused at a position inside of it", () => {
  const document = fc.jsonValue().map((value) => JSON.stringify(value, null, 1));
  const broken = fc.tuple(document, fc.nat(), fc.string({ maxLength: 2 })).map(([text, at, inserted]) => {
    const offset = at % (text.length + 1);
    return text.slice(0, offset) + inserted + text.slice(offset + 1);
  });
  fc.assert(
    fc.property(fc.oneof(document, broken, fc.string()), (text) => {
      const reading = readEnvironment(text);
      if (reading.status === "valid") return void expect(reading.environment).toEqual(JSON.parse(text));
      const lines = text.split(/\r\n|\r|\n/);
      for (const { line, column } of reading.problems) {
        expect(line).toBeGreaterThan(0);
        expect(column).toBeLessThanOrEqual((lines[line - 1] ?? "").length + 1);
      }
    }),
    { numRuns: 1500 },
  );
});
