// Layers: what machines share, and what they keep to themselves.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { newName, type Scenario, sh, unlimited, withMachine } from "./harness.ts";

export const diskScenarios: Record<string, Scenario> = {
  "root of a machine gives files to other users, where it has them": async (harness) => {
    const { users } = await harness.provider.capabilities();
    await withMachine(harness, async (_machine, workspace) => {
      const { output } = await sh(
        workspace,
        "exec 2>&1; touch /workspace/f; chown 33:44 /workspace/f; stat -c %u:%g /workspace/f",
      );
      assert.match(output, users === "single" ? /Invalid argument\n0:0\n$/ : /^33:44\n$/);
    });
  },

  "a machine made from a snapshot has the files of the first, and neither sees what the other does next": (harness) =>
    withMachine(harness, async (machine, workspace) => {
      await sh(
        workspace,
        "mkdir -p /workspace/a/b /opt/d; echo one > /workspace/a/b/f; chmod 4750 /workspace/a/b/f; rm /etc/group; rm -r /home; mkdir /home",
      );
      const layers = await machine.snapshot();
      assert.deepEqual(await machine.snapshot(), layers);
      assert.equal((await sh(workspace, "echo two > /workspace/a/b/f; cat /workspace/a/b/f")).output, "two\n");
      await withMachine(
        harness,
        async (_clone, cloned) => {
          const { output } = await sh(
            cloned,
            "cat /workspace/a/b/f; ls /etc/group 2>&1; stat -c %u /workspace/a/b/f; ls -A /home; rm -r /workspace/a; echo clone > /workspace/c",
          );
          assert.match(output, /^one\n.*No such file.*\n0\n$/);
        },
        { layers },
      );
      assert.equal((await sh(workspace, "ls /workspace; cat /workspace/a/b/f")).output, "a\ntwo\n");
    }),

  "many snapshots in a row become one layer again": async (harness) => {
    const { provider } = harness;
    let layers: string[] = [];
    const depths: number[] = [];
    let isUnchanged = false;
    await withMachine(harness, async (machine, workspace) => {
      await sh(workspace, "echo first > /workspace/first; rm /etc/group");
      layers = await machine.snapshot();
    });
    for (let count = 0; count < 12; count += 1) {
      const machine = await provider.create({ id: newName(), layers, limits: unlimited });
      // Where a machine that was not changed adds no layer, each one is.
      isUnchanged ||= depths.length > 1 && depths.at(-1) === depths.at(-2);
      if (isUnchanged) await sh(await harness.start(machine), `echo ${count} > /workspace/${count}`);
      layers = await machine.snapshot();
      depths.push(layers.length);
      await machine.remove();
    }
    assert.ok(Math.max(...depths) <= 10 && depths.includes(1), depths.join(" "));
    await withMachine(
      harness,
      async (_machine, workspace) => {
        assert.match((await sh(workspace, "cat /workspace/first; ls /etc/group")).output, /^first\n.*No such file/);
      },
      { layers },
    );
  },

  "an imported archive is a layer with its owners, without its devices, known by its digest": async (harness) => {
    const { provider } = harness;
    const { users } = await provider.capabilities();
    const archive = makeArchive();
    const layer = await provider.importBase(Readable.from([archive]));
    assert.equal(await provider.importBase(Readable.from([archive])), layer);
    assert.match(layer, /^sha256-[0-9a-f]{64}$/);
    await withMachine(harness, async (host) => {
      await withMachine(
        harness,
        async (_machine, workspace) => {
          const { output } = await sh(workspace, "cat /opt/tool; stat -c %u:%g /opt/tool; ls -A /dev/inside");
          assert.match(output, users === "single" ? /^tool\n0:0\n/ : /^tool\n33:44\n/);
          assert.match(output, /\/dev\/inside.*No such file/);
          await provider.removeLayers({ keep: [], before: Number.POSITIVE_INFINITY });
          assert.equal((await sh(workspace, "cat /opt/tool")).output, "tool\n");
        },
        { layers: [layer, ...host.layers] },
      );
      await provider.removeLayers({ keep: [], before: Number.POSITIVE_INFINITY });
      const spec = { id: newName(), layers: [layer, ...host.layers], limits: unlimited };
      await assert.rejects(provider.create(spec), /There is no layer sha256-/);
    });
  },

  "an archive that is cut short is refused": async ({ provider }) => {
    const archive = makeArchive();
    for (const length of [512, 1030, 2048])
      await assert.rejects(
        provider.importBase(Readable.from([archive.subarray(0, length)])),
        /incomplete|Unexpected EOF/,
      );
  },
};

function makeArchive(): Buffer {
  const directory = mkdtempSync(join(tmpdir(), "archive-"));
  try {
    for (const name of ["opt", "dev"]) mkdirSync(join(directory, name));
    writeFileSync(join(directory, "opt/tool"), "tool\n");
    writeFileSync(join(directory, "dev/inside"), "");
    chmodSync(join(directory, "opt/tool"), 0o755);
    return execFileSync("tar", ["--create", "--owner=33", "--group=44", "--numeric-owner", "opt", "dev"], {
      cwd: directory,
    });
  } finally {
    rmSync(directory, { recursive: true });
  }
}
