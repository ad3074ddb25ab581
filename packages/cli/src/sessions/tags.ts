// Labels of a run: `--tag team=web`. A thread keeps them; a later turn may add to them or change them.
import { CommandError } from "@agentcli/command-line";
import type { StoredRecord } from "@agentcli/engine";
import type { Tags, ThreadRecord } from "@agentcli/protocol";

export function parseTags(values: string[]): Tags {
  return Object.fromEntries(values.map(parseTag));
}

/** Those that hold after these records. */
export function tagsOf(records: StoredRecord[]): Tags {
  const tagged = records.findLast(({ record }) => tagsIn(record) !== undefined);
  return (tagged && tagsIn(tagged.record)) ?? {};
}

const tagsIn = (record: ThreadRecord): Tags | undefined =>
  record.type === "turn.begun" || record.type === "thread.created" ? record.tags : undefined;

/** Nothing rather than an empty table in the record. */
export const recordedTags = (tags: Tags): { tags?: Tags } => (Object.keys(tags).length > 0 ? { tags } : {});

function parseTag(text: string): [string, string] {
  const [, key, value] = /^([\w.-]{1,64})=(.{0,256})$/.exec(text) ?? [];
  if (key !== undefined && value !== undefined && !/\p{Cc}/u.test(value)) return [key, value];
  throw new CommandError(
    "usage",
    `--tag ${text}: expected key=value, the key of letters, digits, ".", "_" or "-", for example --tag team=web.`,
  );
}
