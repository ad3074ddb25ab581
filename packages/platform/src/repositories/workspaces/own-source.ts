// A repository hosted by the platform: read directly, without a mirror.
import { gitSucceeds } from "../git/index.ts";
import { readAdvertisement, type SourceHost } from "../scm/index.ts";
import { defaultLimits } from "./limits.ts";
import type { Source } from "./mirror.ts";

export async function ownSource(host: SourceHost, directory: string, signal: AbortSignal): Promise<Source> {
  return {
    directory,
    isPartial: false,
    advertisement: await readAdvertisement(host, defaultLimits.answerMs, signal),
    fetch: async (objects, fetchSignal) => {
      const checks = objects.map((object) =>
        gitSucceeds({ location: { directory }, args: ["cat-file", "-e", object] }, fetchSignal),
      );
      return (await Promise.all(checks)).every(Boolean);
    },
  };
}
