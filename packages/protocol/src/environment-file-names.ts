// What is known of `.platform/environment.json` before one is read: loaded without its schema.

export const environmentFilePath = ".platform/environment.json";

/** Longer files are refused unread. */
export const maxEnvironmentBytes = 256 * 1024;
