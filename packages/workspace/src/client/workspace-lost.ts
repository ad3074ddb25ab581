// The workspace is gone, and with it its processes and its private /tmp; it is reported, never silently replaced.
export class WorkspaceLost extends Error {
  constructor(reason: string) {
    super(`The workspace was lost: ${reason}`);
    this.name = "WorkspaceLost";
  }
}
