// The nickname of a sub-agent: the first free one of its role, then with a number.
import type { AgentRole } from "./role.ts";

export function pickNickname({ name, nicknames }: AgentRole, isTaken: (nickname: string) => boolean): string {
  const candidates = nicknames?.length ? nicknames : [name];
  for (let round = 1; ; round += 1) {
    const free = candidates.map((each) => (round === 1 ? each : `${each} ${round}`)).find((each) => !isTaken(each));
    if (free !== undefined) return free;
  }
}
