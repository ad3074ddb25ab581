// A repository that the platform itself keeps: read where it is, without a mirror.
import { gitSucceeds } from "../git/index.ts";
import { readAdvertisement, type SourceHost } from "../scm/index.ts";
import { usualLimits } from "./limits.ts";
import type { Source } from "./mirror.ts";

export async function ownSource(host: SourceHost, directory: string, signal: AbortSignal): Promise<Source> {
  return {
    directory,
    isPartial: false,
    advertisement: await readAdvertisement(host, usualLimits.answerMs, signal),
    fetch: async (objects, ownSignal) => {
      const answers = objects.map((object) =>
        gitSucceeds({ place: { directory }, args: ["cat-file", "-e", object] }, ownSignal),
      );
      return (await Promise.all(answers)).every(Boolean);
    },
  };
}
