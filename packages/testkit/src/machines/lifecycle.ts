// How machines begin, go on and end.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { eventually } from "../eventually.ts";
import { background, newName, type Scenario, sh, unlimited, withMachine } from "./harness.ts";
import { findLeftovers, processesWith } from "./leftovers.ts";

export const lifecycleScenarios: Record<string, Scenario> = {
  "a machine runs commands as its root, who is an ordinary user outside": (harness) =>
    withMachine(harness, async (_machine, workspace) => {
      assert.equal(
        (await sh(workspace, "id -u; echo text > /workspace/file; cat /workspace/file")).output,
        "0\ntext\n",
      );
      const added = await workspace.edit({ edits: [{ kind: "add", path: "/workspace/added", content: "a\n" }] });
      assert.equal(added.kind, "edited");
      const read = await workspace.read({ files: [{ path: "/workspace/added", as: "lines" }] });
      assert.deepEqual(read.files[0]?.kind === "lines" && read.files[0].lines, ["a"]);
      const [pid] = await hostPids(workspace);
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      assert.match(status, /^NoNewPrivs:\s1$/m);
      assert.match(status, /^Seccomp:\s2$/m);
      assert.doesNotMatch(status, /^Uid:.*\s0(\s|$)/m);
    }),

  "the disk of a machine stays when it is stopped, and its processes and /tmp do not": (harness) =>
    withMachine(harness, async (machine, workspace) => {
      const word = newName("left");
      await background(workspace, `echo on; : ${word}; echo kept > /workspace/kept; echo gone > /tmp/gone; sleep 1000`);
      await eventually(async () => assert.equal((await sh(workspace, "cat /tmp/gone")).output, "gone\n"));
      assert.equal(await machine.state(), "running");
      await machine.stop();
      assert.equal(await machine.state(), "stopped");
      assert.deepEqual(processesWith(word), []);
      const again = await harness.start(machine);
      assert.equal((await sh(again, "cat /workspace/kept; ls /tmp | grep gone")).output, "kept\n");
    }),

  "creating a machine with a known id returns the one that exists": async (harness) => {
    const { provider } = harness;
    await withMachine(harness, async (machine, workspace) => {
      await sh(workspace, "echo mine > /workspace/mine");
      const same = await provider.create({ id: machine.id, layers: [], limits: unlimited });
      assert.deepEqual(same.layers, machine.layers);
      assert.equal(await same.state(), "running");
      assert.equal((await provider.find(machine.id))?.id, machine.id);
      assert.ok((await provider.list()).some(({ id }) => id === machine.id));
      await assert.rejects(harness.start(same), /is running already/);
      assert.equal((await sh(workspace, "cat /workspace/mine")).output, "mine\n");
    });
    assert.equal(await provider.find(newName()), undefined);
    await assert.rejects(provider.create({ id: "../x", layers: [], limits: unlimited }), /Invalid machine id/);
  },

  "a removed machine leaves no process, mount, loop device, control group, file or range of ids": async (harness) => {
    const { directory } = harness;
    let id = "";
    await withMachine(harness, async (machine, workspace) => {
      id = machine.id;
      await background(workspace, "echo on; setsid sleep 1000 & sleep 1000");
      assert.notDeepEqual(findLeftovers({ directory, ids: [id], serverPid: process.pid }), []);
      await machine.remove();
      await assert.rejects(harness.start(machine), /does not exist any more/);
    });
    await eventually(() => assert.deepEqual(findLeftovers({ directory, ids: [id], serverPid: process.pid }), []));
  },

  "a frozen machine does nothing until it goes on, and can be stopped": (harness) =>
    withMachine(harness, async (machine, workspace) => {
      const word = newName("count");
      await background(workspace, `echo on; : ${word}; while :; do echo 1 >> /workspace/count; sleep 0.01; done`);
      const [pid] = await eventually(() => {
        const found = processesWith(word);
        return found.length > 0 && found;
      });
      const count = () => readFileSync(`/proc/${pid}/root/workspace/count`, "utf8").length;
      await eventually(() => count() > 2);
      await machine.freeze();
      assert.equal(await machine.state(), "frozen");
      const frozen = count();
      // The same loop outside, to its end.
      execFileSync("/bin/sh", ["-c", "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.01; done"]);
      assert.equal(count(), frozen);
      await machine.thaw();
      await eventually(() => count() > frozen);
      assert.equal((await sh(workspace, "echo on")).output, "on\n");
      await machine.freeze();
      await machine.stop();
      assert.deepEqual(processesWith(word), []);
    }),

  "the host reaches ports of a machine, and finds closed what nothing listens on": (harness) =>
    withMachine(harness, async (machine, workspace) => {
      const serve =
        'require("net").createServer((s) => s.end("hello")).listen(8123, "127.0.0.1", () => console.log("on"))';
      await background(workspace, `/run/agent/node -e '${serve}'`);
      assert.equal(await text(harness.dial(machine, 8123)), "hello");
      await assert.rejects(text(harness.dial(machine, 8124)));
    }),

  "a machine is stopped when its main, its first or its supervising process is killed, and starts again": (harness) =>
    withMachine(harness, async (machine, first) => {
      let workspace = first;
      for (const depth of [0, 1, 2]) {
        await sh(workspace, `echo ${depth} >> /workspace/kept`);
        process.kill(descendantOf(machine.id, depth), "SIGKILL");
        await eventually(async () => assert.equal(await machine.state(), "stopped"));
        await assert.rejects(sh(workspace, "true"), /workspace/i);
        workspace = await eventually(() => harness.start(machine));
      }
      assert.equal((await sh(workspace, "cat /workspace/kept")).output, "0\n1\n2\n");
    }),
};

/** Of a command in the machine. */
async function hostPids(workspace: Parameters<typeof sh>[0]): Promise<number[]> {
  const word = newName("command");
  await background(workspace, `echo on; : ${word}; sleep 1000`);
  return processesWith(word);
}

/** 0: the main process of the machine, 1: its child, which is the first inside, 2: the child of that. */
function descendantOf(id: string, depth: number): number {
  const family = processesWith(`--hostname ${id} `).filter((pid) => !standsFor(pid));
  let pid = family.find((each) => !family.includes(parentOf(each))) ?? 0;
  for (let level = 0; level < depth; level += 1)
    pid = Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ")[0]);
  return pid;
}

/** A process of the host that only carries the streams of one in a container. */
const standsFor = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("docker-enter.cjs");

const parentOf = (pid: number) => Number(/^PPid:\s(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
