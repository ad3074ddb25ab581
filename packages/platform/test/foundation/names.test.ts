// Lookups of names whose name server is silent, with a real one in a network of its own.
import { execFile } from "node:child_process";
import { realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { programsOfTests } from "../harness/bundled.ts";

const bundled = programsOfTests();

test("names that no server answers for do not delay the lookup of another name", async () => {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  const servers = join(directory.path, "resolv.conf");
  writeFileSync(servers, "nameserver 127.0.0.1\n");
  const { stdout } = await promisify(execFile)("/usr/bin/bwrap", [
    ...["--dev-bind", "/", "/", "--ro-bind", servers, realpathSync("/etc/resolv.conf")],
    // The port of name servers is for root, here in a namespace.
    ...["--unshare-net", "--unshare-user", "--uid", "0", "--gid", "0", "--cap-add", "ALL"],
    ...[process.execPath, await bundled("foundation/names-child.ts")],
  ]);
  const other = { kind: "addresses", addresses: ["93.184.216.34"] };
  expect(JSON.parse(stdout)).toEqual({ other, pending: 8, wasAsked: true });
});
