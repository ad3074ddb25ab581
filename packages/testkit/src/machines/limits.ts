// What the kernel enforces; where it cannot, the capabilities say so.
import assert from "node:assert/strict";
import { statSync } from "node:fs";
import { join } from "node:path";
import { mebibyte, type Scenario, sh, unlimited, withMachine } from "./harness.ts";

export const limitScenarios: Record<string, Scenario> = {
  "a command that needs more memory than the machine has is killed, and the machine goes on": async (harness) => {
    const { memory } = (await harness.provider.capabilities()).limits;
    const limits = { ...unlimited, memoryBytes: 256 * mebibyte };
    await withMachine(
      harness,
      async (machine, workspace) => {
        const { output } = await sh(workspace, "{ head -c 700M /dev/zero | tail; echo $? >&2; } | wc -c");
        const expected = { machine: /^137$/m, process: /^[1-9]\d{0,2}$/m, nothing: /^734003200$/m };
        assert.match(output, expected[memory]);
        assert.equal((await sh(workspace, "echo on")).output, "on\n");
        const { memoryBytes } = await machine.stats();
        assert.equal(memoryBytes !== null, memory === "machine");
      },
      { limits },
    );
  },

  "a machine cannot have more processes than its limit": async (harness) => {
    const { processes } = (await harness.provider.capabilities()).limits;
    await withMachine(
      harness,
      async (_machine, workspace) => {
        const fork =
          'for (1..1500) { my $p = fork(); if (!defined $p) { print "refused\\n"; kill 9, @p; exit } if (!$p) { sleep 1000 } push @p, $p } print "all\\n"; kill 9, @p';
        const { output } = await sh(workspace, `perl -e '${fork}'`);
        assert.match(output, processes === "nothing" ? /^all\n/ : /^refused\n/);
      },
      { limits: { ...unlimited, processes: 300 } },
    );
  },

  "a machine cannot write more than its disk holds, and can again after deleting": async (harness) => {
    const { disk } = (await harness.provider.capabilities()).limits;
    const limits = { ...unlimited, diskBytes: 32 * mebibyte };
    await withMachine(
      harness,
      async (machine, workspace) => {
        const { output } = await sh(workspace, "head -c 64M /dev/zero > /workspace/large && echo written");
        assert.match(output, disk === "machine" ? /No space left on device/ : /written/);
        const { diskBytes } = await machine.stats();
        assert.ok(diskBytes > 0 && (disk === "nothing" || diskBytes <= 32 * mebibyte));
        assert.equal(
          (await sh(workspace, "rm /workspace/large; echo small > /workspace/s; cat /workspace/s")).output,
          "small\n",
        );
      },
      { limits },
    );
  },

  "the sizes of /tmp, /run and /dev/shm are limited together": (harness) =>
    withMachine(
      harness,
      async (_machine, workspace) => {
        const fill = ["/tmp", "/run", "/dev/shm"].map((path) => `head -c 8M /dev/zero > ${path}/large`);
        const { output } = await sh(workspace, `${fill.join("; ")}; cat /tmp/large /run/large /dev/shm/large | wc -c`);
        assert.equal(output.match(/No space left on device/g)?.length, 3);
        assert.ok(Number(output.trim().split("\n").at(-1)) <= 4 * mebibyte, output);
      },
      { limits: { ...unlimited, temporaryBytes: 4 * mebibyte } },
    ),
};

/** Of providers that keep layers as directories. */
export const directoryScenarios: Record<string, Scenario> = {
  "a file with holes does not become larger in a snapshot": (harness) =>
    withMachine(
      harness,
      async (machine, workspace) => {
        const { output } = await sh(
          workspace,
          "truncate -s 200M /workspace/holes && echo x >> /workspace/holes && echo made",
        );
        assert.equal(output, "made\n");
        await machine.stop();
        const [top = ""] = await machine.snapshot();
        const { size, blocks } = statSync(join(harness.directory, "layers", top, "tree/workspace/holes"));
        assert.equal(size, 200 * mebibyte + 2);
        assert.ok(blocks * 512 < mebibyte, `${blocks} blocks`);
      },
      { limits: unlimited },
    ),
};
