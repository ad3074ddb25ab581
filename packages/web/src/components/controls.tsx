// Buttons and fields.
import type { ButtonHTMLAttributes, ReactNode, SelectHTMLAttributes } from "react";
import { Icon, type IconName } from "./icon.tsx";

export interface ButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  look?: "primary" | "plain" | "quiet" | "danger";
  icon?: IconName;
  /** The action is under way: the button cannot be pressed again. */
  isBusy?: boolean;
}

export const Button = ({ look = "plain", icon, isBusy = false, children, className = "", ...rest }: ButtonProps) => (
  <button
    type="button"
    {...rest}
    className={`button button-${look} ${className}`}
    disabled={rest.disabled || isBusy}
    aria-busy={isBusy || undefined}
  >
    {isBusy ? <Spinner /> : icon && <Icon name={icon} />}
    {children}
  </button>
);

export interface IconButtonProps extends ButtonHTMLAttributes<HTMLButtonElement> {
  icon: IconName;
  /** What it does, for people who do not see the icon. */
  label: string;
}

export const IconButton = ({ icon, label, ...rest }: IconButtonProps) => (
  <button type="button" {...rest} className="icon-button" aria-label={label} title={label}>
    <Icon name={icon} />
  </button>
);

export const Field = ({ label, hint, children }: { label: string; hint?: ReactNode; children: ReactNode }) => (
  // biome-ignore lint/a11y/noLabelWithoutControl: the control is in `children`.
  <label className="field">
    <span className="field-label">{label}</span>
    {children}
    {hint !== undefined && <span className="field-hint">{hint}</span>}
  </label>
);

export const Select = ({ children, ...rest }: SelectHTMLAttributes<HTMLSelectElement>) => (
  <select {...rest} className="input select">
    {children}
  </select>
);

export const Check = ({
  label,
  checked,
  onChange,
}: {
  label: string;
  checked: boolean;
  onChange: (checked: boolean) => void;
}) => (
  <label className="check">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.target.checked)} />
    {label}
  </label>
);

export const Spinner = () => <span className="spinner" aria-hidden="true" />;

export const Keys = ({ children }: { children: string }) => <kbd className="keys">{children}</kbd>;
