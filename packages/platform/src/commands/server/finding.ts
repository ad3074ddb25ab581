// What `platform doctor` says about one subject.
export interface Finding {
  subject: string;
  verdict: "fine" | "note" | "wrong";
  text: string;
}
