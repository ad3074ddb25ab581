// The workspace is gone, and with it its processes and its private /tmp; whoever was at work in it is told.
export class WorkspaceLost extends Error {
  constructor(reason: string) {
    super(`The workspace was lost: ${reason}`);
    this.name = "WorkspaceLost";
  }
}
