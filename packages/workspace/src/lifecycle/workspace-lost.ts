// The workspace is gone, with its processes and its private /tmp. Thrown to every running operation.
export class WorkspaceLost extends Error {
  constructor(reason: string) {
    super(`The workspace was lost: ${reason}`);
    this.name = "WorkspaceLost";
  }
}
