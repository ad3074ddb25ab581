// A sandboxed command does not pass for the process that later has the id of the one that connected.
import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cliProgram, waitForExit } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { type OrdinaryUser, ordinaryUser } from "../cli/ordinary-user.ts";
import { connectTo, listenAddress } from "./client.ts";

let user: OrdinaryUser;
beforeAll(() => {
  user = ordinaryUser();
});
afterAll(() => user.remove());

/** Process ids of its own, of which root in there may choose the next one. */
const ownProcessIds = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child", "--mount-proc"];

const request = [
  "GET / HTTP/1.1",
  "Host: localhost",
  "Connection: upgrade",
  "Upgrade: websocket",
  "Sec-WebSocket-Version: 13",
  `Sec-WebSocket-Key: ${Buffer.alloc(16).toString("base64")}`,
].join("\\r\\n");

/** A process connects, leaves the connection to its child and ends. The child sends the request once it may, and prints the response. */
const connector = (socket: string) => `
use Socket;
pipe(my $answer, my $end);
my $connecting = fork;
if ($connecting == 0) {
  socket(my $c, AF_UNIX, SOCK_STREAM, 0); connect($c, pack_sockaddr_un("${socket}")) or die "connect: $!";
  exit 0 if fork != 0;
  select(undef, undef, undef, 0.02) until -e "go";
  syswrite($c, "${request}\\r\\n\\r\\n"); sysread($c, my $response, 4096); syswrite($end, $response);
  exit 0;
}
close $end; waitpid($connecting, 0);
my $name = "$ENV{TMPDIR}/connecting"; open(my $f, ">", "$name.new"); print $f $connecting; close $f; rename("$name.new", $name);
print while <$answer>;`;

/** Leaves a process that has this id. */
const taker = (pid: string) => `
for (1 .. 1000) {
  open(my $f, ">", "/proc/sys/kernel/ns_last_pid") or die "ns_last_pid: $!"; print $f ${pid} - 1; close $f;
  my $child = fork;
  if ($child == 0) { close STDIN; close STDOUT; close STDERR; sleep 600; exit 0 }
  if ($child == ${pid}) { print "taken"; exit 0 }
  kill 9, $child; waitpid($child, 0);
}`;

/** A PATH on which bubblewrap fails, so that Landlock is used. */
function pathWithoutBubblewrap(directory: string): string {
  writeFileSync(join(directory, "bwrap"), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
  return `${directory}:${process.env.PATH}`;
}

test.each(["this user", "an ordinary user"] as const)(
  "a command in Landlock whose process id another process has taken cannot use the socket of its server, run by %s",
  async (as) => {
    const harness = await openHarness({ config: "[sandbox_workspace_write]\nunix_sockets = true\n" });
    const directory = mkdtempSync("/var/tmp/reused-");
    onTestFinished(() => rmSync(directory, { recursive: true }));
    chmodSync(directory, 0o755);
    const PATH = pathWithoutBubblewrap(directory);
    for (const path of [harness.repository, harness.home, directory]) if (as !== "this user") user.own(path);
    const argv = ["app-server", "--listen", `unix://${join(directory, "app.sock")}`];
    const options = {
      cwd: harness.repository,
      env: { PATH, HOME: harness.home, AGENT_HOME: harness.home, SHELL: "/bin/bash", TMPDIR: directory },
    };
    const [unshare = "", ...inside] = ownProcessIds;
    const child: ChildProcess =
      as === "this user"
        ? spawn(unshare, [...inside, process.execPath, cliProgram, ...argv], options)
        : user.start(argv, { ...options, inside: ownProcessIds });
    const ending = waitForExit(child);
    onTestFinished(async () => {
      child.kill("SIGKILL");
      await ending;
    });
    const client = await connectTo(await listenAddress(child));
    const run = (code: string, type: string) =>
      client.request("command/exec", {
        command: ["/usr/bin/perl", "-e", code],
        cwd: harness.repository,
        sandboxPolicy: { type },
      });
    const answered = run(connector(join(directory, "app.sock")), "readOnly");
    const connecting = () =>
      readdirSync(directory, { recursive: true, encoding: "utf8" }).find((name) => name.endsWith("/connecting"));
    await expect.poll(connecting).toBeDefined();
    const pid = readFileSync(join(directory, connecting() ?? ""), "utf8");
    expect(await run(taker(pid), "dangerFullAccess")).toMatchObject({ stdout: "taken" });
    writeFileSync(join(harness.repository, "go"), "");
    expect((await answered).stdout).toMatch(/^HTTP\/1\.1 403 /);
  },
);
