// A line about a call; what it printed or changed folds out below.
import { type ReactNode, useState } from "react";
import { Icon, type IconName } from "../components/icon.tsx";
import type { CallStatus } from "../stream/transcript.ts";

export interface StepProps {
  icon: IconName;
  title: ReactNode;
  status: CallStatus;
  /** Shown without a click. */
  startsOpen?: boolean;
  children?: ReactNode;
}

export function Step({ icon, title, status, startsOpen = false, children }: StepProps) {
  const [choice, setChoice] = useState<boolean | null>(null);
  const isOpen = choice ?? startsOpen;
  const content = (
    <>
      <span className={`step-icon step-${status}`}>
        {status === "running" ? <span className="spinner" aria-hidden="true" /> : <Icon name={icon} size={14} />}
      </span>
      <span className="step-title">{title}</span>
    </>
  );
  return (
    <div className={`step step-is-${status}`}>
      {children ? (
        <button type="button" className="step-line" aria-expanded={isOpen} onClick={() => setChoice(!isOpen)}>
          {content}
          <span className="step-chevron">
            <Icon name="chevron" size={12} />
          </span>
        </button>
      ) : (
        <div className="step-line">{content}</div>
      )}
      {children && isOpen && <div className="step-body">{children}</div>}
    </div>
  );
}
