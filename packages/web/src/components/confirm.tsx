// An action that cannot be undone: it says what will happen, and asks.
import { type ReactNode, useState } from "react";
import { Button, type ButtonProps } from "./controls.tsx";
import { Dialog } from "./dialog.tsx";

export interface ConfirmProps extends Pick<ButtonProps, "icon" | "look" | "isBusy"> {
  /** On the button, and on the one that confirms. */
  label: string;
  title: string;
  /** On the button that does nothing. */
  refusal?: string;
  onConfirm(): void;
  children: ReactNode;
}

export function ConfirmButton({ label, title, refusal = "Keep", onConfirm, children, ...button }: ConfirmProps) {
  const [isOpen, setOpen] = useState(false);
  const close = () => setOpen(false);
  return (
    <>
      <Button {...button} aria-haspopup="dialog" onClick={() => setOpen(true)}>
        {label}
      </Button>
      {isOpen && (
        <Dialog label={title} className="confirm" onClose={close}>
          <h2>{title}</h2>
          <div className="confirm-text">{children}</div>
          <div className="dialog-actions">
            <Button onClick={close}>{refusal}</Button>
            <Button
              look={button.look === "primary" ? "primary" : "danger"}
              onClick={() => {
                close();
                onConfirm();
              }}
            >
              {label}
            </Button>
          </div>
        </Dialog>
      )}
    </>
  );
}
