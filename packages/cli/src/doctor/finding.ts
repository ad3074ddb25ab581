// One result of doctor: ok, a warning, or a failure that prevents runs.
export type Finding =
  | { name: string; status: "ok"; detail: string }
  | { name: string; status: "warn" | "fail"; detail: string; mend: string };

export const fine = (name: string, detail: string): Finding => ({ name, status: "ok", detail });
export const doubtful = (name: string, detail: string, mend: string): Finding => ({
  name,
  status: "warn",
  detail,
  mend,
});
export const broken = (name: string, detail: string, mend: string): Finding => ({ name, status: "fail", detail, mend });
