// What a comment says to the platform: `@<bot> …`. Pure.
import type { AutomationHost } from "../host.ts";
import type { SourceEvent } from "./github.ts";
import { readToggle } from "./judge-fix.ts";

const commented: SourceEvent["event"][] = [
  "pull_request.comment",
  "issue.comment",
  "review_comment",
  "review.submitted",
];

/** Whether it is a comment to the platform, of whomever. */
export const isAddressed = ({ platform }: Pick<AutomationHost, "platform">, event: SourceEvent): boolean =>
  readToggle(event.text) !== null || readMention(event, platform.settings.botName) !== null;

/** The text without the mention; null where it is not for the bot, or asks nothing. */
export function readMention({ event, text }: Pick<SourceEvent, "event" | "text">, botName: string): string | null {
  if (!commented.includes(event) || readToggle(text) !== null) return null;
  const mention = mentionOf(botName);
  if (!mention.test(withoutQuotes(text))) return null;
  const asked = text.replace(mention, "$1").trim();
  return asked === "" ? null : asked;
}

const mentionOf = (botName: string): RegExp => {
  const escaped = botName.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(^|[\\s(])@${escaped}(?:\\[bot\\])?(?![\\w@/-])[,:]?[ \\t]?`, "i");
};

/** What others have written, code, and what readers do not see addresses no one. */
const withoutQuotes = (text: string): string =>
  text
    .slice(0, 65_536)
    .replace(/^[ \t]*(```|~~~)[\s\S]*?(?:^[ \t]*\1|$(?![\s\S]))/gm, "")
    .replace(/<!-{2}[\s\S]*?(?:-{2}>|$)/g, "")
    .replace(/`[^`\n]*`/g, "")
    .replace(/^[ \t]*>.*$/gm, "");
