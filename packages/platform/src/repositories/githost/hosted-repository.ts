// A repository that the platform itself hosts.

export interface HostedRepository {
  id: number;
  teamId: number;
  name: string;
  defaultBranch: string;
  /** The git directory. Only git and the platform write to it. */
  directory: string;
}
