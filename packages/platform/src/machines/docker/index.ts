// Machines that are containers of a Docker daemon.
export { type DockerOptions, openDockerProvider } from "./provider.ts";
