// What a page shows instead of content, or beside it: waiting, nothing there, and failures with what to do next.
import type { ReactNode } from "react";
import { RequestError } from "../api/request.ts";
import { Button } from "./controls.tsx";
import { Icon, type IconName } from "./icon.tsx";

export const Skeleton = ({ lines = 3 }: { lines?: number }) => (
  <output className="skeleton" aria-label="Loading">
    {Array.from({ length: lines }, (_, index) => `line-${index}`).map((key) => (
      <span key={key} className="skeleton-line" />
    ))}
  </output>
);

export interface EmptyProps {
  icon: IconName;
  title: string;
  children?: ReactNode;
}

export const Empty = ({ icon, title, children }: EmptyProps) => (
  <div className="empty">
    <span className="empty-icon">
      <Icon name={icon} size={22} />
    </span>
    <h2>{title}</h2>
    {children}
  </div>
);

export const Notice = ({
  tone = "info",
  children,
}: {
  tone?: "info" | "bad" | "busy" | "good";
  children: ReactNode;
}) => (
  <div className={`notice notice-${tone}`} role={tone === "bad" ? "alert" : undefined}>
    {children}
  </div>
);

/** A failure of the server or of an action, with what can be done about it. */
export function Failure({ error, retry }: { error: unknown; retry?: () => void }) {
  const { code, message } =
    error instanceof RequestError
      ? error
      : { code: "unknown", message: "Something went wrong in this page. Reload it to go on." };
  return (
    <Notice tone="bad">
      <span className="notice-text">{message}</span>
      {code === "unauthorized" ? (
        <a className="button button-plain" href={`/login?next=${encodeURIComponent(location.pathname)}`}>
          Log in
        </a>
      ) : (
        retry && !isRefusal(error) && <Button onClick={retry}>Try again</Button>
      )}
    </Notice>
  );
}

/** What a person may not see, or what is not there, is refused the next time as well. */
const isRefusal = (error: unknown): boolean => error instanceof RequestError && [403, 404].includes(error.status);
