// `platform image list`
import { openImages } from "../../images/index.ts";
import { openMachines } from "../../machines/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  const images = openImages({ settings, ...openMachines(settings) });
  const base = images.base()?.digest;
  const list = images.list().map((image) => ({ ...image, isBase: image.digest === base }));
  if (invocation.has("json")) program.print(`${JSON.stringify(list)}\n`);
  else if (list.length === 0)
    program.print(
      "There is no image: machines have the system directories of this host, read-only. Make one with: platform image build\n",
    );
  else
    for (const { isBase, digest, madeAt, source } of list)
      program.print(`${isBase ? "*" : " "} ${digest}  ${madeAt}  ${source}\n`);
  return 0;
}
