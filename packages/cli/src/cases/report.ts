// Results of test cases: as text for people, as TAP and as JUnit XML.
import { basename, relative } from "node:path";
import type { Case, CaseFile } from "./case.ts";
import { shortened } from "./fields.ts";
import type { CaseResult } from "./run-case.ts";

export interface TestReport {
  /** The directory that paths are shown below. */
  root: string;
  files: FileReport[];
  durationMs: number;
}

export interface FileReport {
  path: string;
  /** In the order of the file. */
  results: CaseResult[];
  /** Cases without replies, which only a real model can run. */
  skipped: Case[];
  problems: CaseFile["problems"];
}

export const hasFailed = ({ files }: TestReport): boolean =>
  files.some(({ results, problems }) => problems.length > 0 || results.some(({ failures }) => failures.length > 0));

const skipReason = "without a script: agentcli eval runs it";

export function textReport({ root, files, durationMs }: TestReport): string {
  const sections = files.map(({ path, results, skipped, problems }) =>
    [
      shownPath(root, path),
      ...problems.map(({ line, message }) => `  ERROR line ${line}: ${message}.`),
      ...results.flatMap((result) => resultLines(result, root)),
      ...skipped.map(({ name }) => `  skip  ${name} (${skipReason})`),
    ].join("\n"),
  );
  return `${[...sections, summary(files, durationMs)].join("\n\n")}\n`;
}

function resultLines({ case: { name, path }, failures, durationMs }: CaseResult, root: string): string[] {
  const took = `(${Math.round(durationMs)} ms)`;
  if (failures.length === 0) return [`  ok    ${name} ${took}`];
  const details = failures.map(({ line, message }) => `        ${shownPath(root, path)}:${line}: ${message}`);
  return [`  FAIL  ${name} ${took}`, ...details];
}

function summary(files: FileReport[], durationMs: number): string {
  const results = files.flatMap((file) => file.results);
  const failed = results.filter(({ failures }) => failures.length > 0).length;
  const broken = files.flatMap(({ problems }) => problems).length;
  const skipped = files.flatMap((file) => file.skipped).length;
  return [
    `${results.length - failed} passed`,
    ...(failed > 0 ? [`${failed} failed`] : []),
    ...(broken > 0 ? [`${broken} ${broken === 1 ? "problem" : "problems"} in files`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
  ]
    .join(", ")
    .concat(` in ${(durationMs / 1000).toFixed(2)} s`);
}

/** Version 14. */
export function tapReport({ root, files }: TestReport): string {
  const points = files.flatMap(({ path, results, skipped, problems }) => [
    ...problems.map(({ line, message }) => ({
      ok: false,
      text: tapText(`${shownPath(root, path)}:${line}`),
      details: [message],
    })),
    ...results.map(({ case: { name }, failures }) => ({
      ok: failures.length === 0,
      text: tapText(`${shownPath(root, path)}: ${name}`),
      details: failures.map(({ line, message }) => `line ${line}: ${message}`),
    })),
    ...skipped.map(({ name }) => ({
      ok: true,
      text: `${tapText(`${shownPath(root, path)}: ${name}`)} # SKIP ${skipReason}`,
      details: [],
    })),
  ]);
  const lines = points.flatMap(({ ok, text, details }, index) => [
    `${ok ? "ok" : "not ok"} ${index + 1} - ${text}`,
    ...(details.length > 0
      ? ["  ---", "  failures:", ...details.map((each) => `    - ${JSON.stringify(each)}`), "  ..."]
      : []),
  ]);
  return `${["TAP version 14", `1..${points.length}`, ...lines].join("\n")}\n`;
}

/** A hash sign begins a directive. */
const tapText = (text: string): string => shortened(text, 1_000).replace(/[\\#]/g, "\\$&");

export function junitReport({ root, files, durationMs }: TestReport): string {
  const suites = files.map((file) => junitSuite(file, root));
  const [tests, failures, errors, skipped] = (["tests", "failures", "errors", "skipped"] as const).map((name) =>
    suites.reduce((sum, { counts }) => sum + counts[name], 0),
  );
  const all = { name: "agentcli test", tests, failures, errors, skipped, time: seconds(durationMs) };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites${attributes(all)}>`,
    ...suites.map(({ text }) => text),
    "</testsuites>",
    "",
  ].join("\n");
}

function junitSuite({ path, results, skipped, problems }: FileReport, root: string) {
  const shown = shownPath(root, path);
  const classname = basename(path).replace(/\.ya?ml$/, "");
  const cases = [
    ...problems.map(({ line, message }) =>
      element("testcase", { name: `line ${line}`, classname, file: shown, line, time: 0 }, [
        element("error", { message }),
      ]),
    ),
    ...results.map(({ case: { name, line }, failures, durationMs }) =>
      element(
        "testcase",
        { name, classname, file: shown, line, time: seconds(durationMs) },
        failures.length === 0 ? [] : [junitFailure(failures, shown)],
      ),
    ),
    ...skipped.map(({ name, line }) =>
      element("testcase", { name, classname, file: shown, line, time: 0 }, [
        element("skipped", { message: skipReason }),
      ]),
    ),
  ];
  const counts = {
    tests: cases.length,
    failures: results.filter(({ failures }) => failures.length > 0).length,
    errors: problems.length,
    skipped: skipped.length,
  };
  const time = seconds(results.reduce((sum, { durationMs }) => sum + durationMs, 0));
  return { counts, text: element("testsuite", { name: shown, ...counts, time }, cases) };
}

function junitFailure(failures: CaseResult["failures"], path: string): string {
  const texts = failures.map(({ line, message }) => `${path}:${line}: ${message}`);
  return element("failure", { message: failures[0]?.message ?? "" }, [escapeXml(texts.join("\n"))]);
}

function element(name: string, values: Record<string, unknown>, content: string[] = []): string {
  const start = `<${name}${attributes(values)}`;
  return content.length === 0 ? `${start}/>` : `${start}>${content.join("\n")}</${name}>`;
}

const attributes = (values: Record<string, unknown>): string =>
  Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(String(value))}"`)
    .join("");

const entities: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;" };

/** XML has no way to write most control characters. */
const escapeXml = (text: string): string =>
  text
    .replace(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g,
      "\ufffd",
    )
    .replace(/[&<>"\n]/g, (character) => entities[character] ?? character);

const seconds = (milliseconds: number): string => (milliseconds / 1000).toFixed(3);

const shownPath = (root: string, path: string): string => {
  const below = relative(root, path);
  return below.startsWith("..") ? path : below;
};
